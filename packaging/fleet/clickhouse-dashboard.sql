-- SPDX-License-Identifier: Apache-2.0
--
-- What a dashboard over a fleet asks, from roll-ups alone, since a moment, or the day that it is in:
--
--   clickhouse-client --database cordon --param_since '2026-11-25 00:00:00' --queries-file clickhouse-dashboard.sql

-- refusals by hour
SELECT hour, action, sum(count) AS decisions
FROM rollups_of_fleet
WHERE hour >= {since:DateTime('UTC')} AND action IN ('denial', 'attempt', 'execution-refused', 'would-deny')
GROUP BY hour, action
ORDER BY hour, action;

-- rules that refuse most
SELECT rule, operation, sum(count) AS refusals, uniqExact(host) AS hosts
FROM rollups_by_day
WHERE day >= toDate({since:DateTime('UTC')}, 'UTC') AND action IN ('denial', 'attempt', 'execution-refused', 'would-deny')
GROUP BY rule, operation
ORDER BY refusals DESC, rule, operation
LIMIT 20;

-- what is refused most
SELECT operation, template, sum(count) AS refusals, uniqExact(host) AS hosts
FROM rollups_by_day
WHERE day >= toDate({since:DateTime('UTC')}, 'UTC') AND action IN ('denial', 'attempt', 'execution-refused', 'would-deny')
GROUP BY operation, template
ORDER BY refusals DESC, operation, template
LIMIT 20;

-- hosts that are refused most
SELECT host, sum(count) AS refusals, uniqExact(rule) AS rules
FROM rollups_by_day
WHERE day >= toDate({since:DateTime('UTC')}, 'UTC') AND action IN ('denial', 'attempt', 'execution-refused', 'would-deny')
GROUP BY host
ORDER BY refusals DESC, host
LIMIT 20;

-- decisions by policy
SELECT policy, sum(count) AS decisions, sumIf(count, action IN ('denial', 'attempt', 'execution-refused')) AS refusals,
	uniqExact(host) AS hosts
FROM rollups_by_day
WHERE day >= toDate({since:DateTime('UTC')}, 'UTC')
GROUP BY policy
ORDER BY decisions DESC, policy
LIMIT 20;

-- SPDX-License-Identifier: Apache-2.0
--
-- The tables that `cordon-fleet store` fills and its questions read, where fleet.yaml names a ClickHouse server:
--
--   clickhouse-client --query 'CREATE DATABASE cordon'
--   clickhouse-client --database cordon --queries-file clickhouse.sql
--
-- The store needs INSERT and SELECT on them, whoever asks SELECT. What TTL says may be changed.

-- What a record is found by; where its line lies in the host's log on the store's disk say `segment` and `offset`. The same
-- row twice becomes one when parts are merged; an insert that is repeated with its token is not taken twice in the first place.
CREATE TABLE IF NOT EXISTS records
(
	host LowCardinality(String),
	name LowCardinality(String),
	log LowCardinality(String),
	seq UInt64 CODEC(Delta, ZSTD),
	time DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
	action LowCardinality(String),
	execution String CODEC(ZSTD),
	policy LowCardinality(String),
	digest LowCardinality(String),
	rule LowCardinality(String),
	operation LowCardinality(String),
	template LowCardinality(String),
	segment UInt64 CODEC(Delta, ZSTD),
	offset UInt64 CODEC(Delta, ZSTD),
	INDEX by_time time TYPE minmax,
	INDEX by_action action TYPE set(100),
	INDEX by_execution execution TYPE bloom_filter(0.001)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (host, log, seq)
TTL toDateTime(time) + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- What decisions were taken in each hour, by class of path, never by path. Texts are '' where there is none.
CREATE TABLE IF NOT EXISTS rollups
(
	hour DateTime('UTC') CODEC(Delta, ZSTD),
	host LowCardinality(String),
	action LowCardinality(String),
	policy LowCardinality(String),
	rule LowCardinality(String),
	operation LowCardinality(String),
	template LowCardinality(String),
	count UInt64
)
ENGINE = SummingMergeTree(count)
PARTITION BY toYYYYMM(hour)
ORDER BY (hour, host, action, policy, rule, operation, template)
TTL hour + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS rollups_of_records TO rollups AS
SELECT toStartOfHour(time) AS hour, host, action, policy, rule, operation, template, count() AS count
FROM records
WHERE operation != ''
GROUP BY hour, host, action, policy, rule, operation, template;

-- The same by day, for what is asked of weeks.
CREATE TABLE IF NOT EXISTS rollups_by_day
(
	day Date CODEC(Delta, ZSTD),
	host LowCardinality(String),
	action LowCardinality(String),
	policy LowCardinality(String),
	rule LowCardinality(String),
	operation LowCardinality(String),
	template LowCardinality(String),
	count UInt64
)
ENGINE = SummingMergeTree(count)
PARTITION BY toYYYYMM(day)
ORDER BY (day, host, action, policy, rule, operation, template)
TTL day + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS rollups_by_day_of_records TO rollups_by_day AS
SELECT toDate(time, 'UTC') AS day, host, action, policy, rule, operation, template, count() AS count
FROM records
WHERE operation != ''
GROUP BY day, host, action, policy, rule, operation, template;

-- All hosts together, for what is asked hour by hour: few rows, however many hosts there are.
CREATE TABLE IF NOT EXISTS rollups_of_fleet
(
	hour DateTime('UTC') CODEC(Delta, ZSTD),
	action LowCardinality(String),
	policy LowCardinality(String),
	operation LowCardinality(String),
	count UInt64
)
ENGINE = SummingMergeTree(count)
PARTITION BY toYYYYMM(hour)
ORDER BY (hour, action, policy, operation)
TTL hour + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS rollups_of_fleet_of_records TO rollups_of_fleet AS
SELECT toStartOfHour(time) AS hour, action, policy, operation, count() AS count
FROM records
WHERE operation != ''
GROUP BY hour, action, policy, operation;

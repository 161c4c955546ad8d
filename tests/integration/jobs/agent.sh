# SPDX-License-Identifier: Apache-2.0
# What coding agents run while they work on a project; with "commit", also what changes its repository.
set -e
rg -n needle src >/dev/null
grep -rn --include='*.py' needle . | head -n 5
find . -name '*.py' -not -path './.git/*' | xargs wc -l >/dev/null
sed -n '1,5p' src/calc.py >/dev/null
sed -i 's/return a - b/return a + b/' src/calc.py
cat <<'END' >src/extra.py
VALUE = 1
END
python3 -m unittest -q
make -s test
git status --short; git diff --stat >/dev/null; git log --oneline -3 >/dev/null; git show --stat HEAD >/dev/null
git grep -q needle
if [ "$1" = commit ]; then
	git checkout -q -b fix; git add -A; git -c user.name=a -c user.email=a@example.org commit -q -m 'Fix the sum'
	git checkout -q main; git -c user.name=a -c user.email=a@example.org merge -q --no-ff -m merge fix
	git branch -q -d fix 2>/dev/null; git stash list
	npm test --silent
fi
ls -la >/dev/null; (sleep 0.1 & wait)
tail -n 1 src/extra.py | grep -q VALUE
echo fine

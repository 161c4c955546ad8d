# SPDX-License-Identifier: Apache-2.0
# A day's work on the repository in the current directory, which has a hook and settings of its owner.
set -eu
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
git status --short; git log --oneline >/dev/null; git diff --stat
git checkout -q -b topic; echo two >>file; git commit -q -am two; git checkout -q main
echo other >other; git add other; git commit -q -m other; git merge -q -m merge topic; grep -q two file
git checkout -q -b conflict HEAD~1; echo three >>file; git commit -q -am three
if git rebase -q main >/dev/null 2>&1; then echo 'no conflict'; exit 1; fi
printf 'one\ntwo\nthree\n' >file; git add file; GIT_EDITOR=true git rebase --continue >/dev/null 2>&1
git checkout -q main; git merge -q --ff-only conflict; git tag v1
home=$PWD; git clone -q . "$TMPDIR/below"; cd "$TMPDIR/below"; git checkout -q -b mine; git config user.name x; echo more >more; git add .
git commit -q -m more; git push -q origin mine; cd "$home"; git merge -q mine; test -f more
test -s hooked
echo fine

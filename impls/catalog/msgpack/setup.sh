#!/bin/sh
# Fetches the libraries that the programs in this folder are written around, from the usual registries, into .lib here.
#
#   setup.sh            all of them
#   setup.sh go java    only these: go (vmihailenco/msgpack 5.4.1, neovim/go-client 1.2.1), rust (rmpv 1.3.0) or
#                       java (msgpack-core 0.9.8)
#
# Nothing is installed into the system. Each needs the tools of its language; java also needs Maven. What Perl, Ruby and
# Neovim need comes from the system's packages: libdata-messagepack-perl, ruby-msgpack, neovim.
set -eu
cd "$(dirname "$0")"
mkdir -p .lib

java_filter() {
    mkdir -p .lib/java/classes
    cat > .lib/java/pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>testee</groupId><artifactId>filter</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.msgpack</groupId><artifactId>msgpack-core</artifactId><version>0.9.8</version>
  </dependency></dependencies>
</project>
POM
    mvn -q -f .lib/java/pom.xml dependency:copy-dependencies -DoutputDirectory=jars
    javac -nowarn -cp ".lib/java/jars/*" -d .lib/java/classes ../../kits/java/Kit.java java/Filter.java
}

for what in ${*:-go rust java}; do
    case $what in
        go) cp ../../kits/go/kit.go go/filter/ && (cd go && go build -o ../.lib/go/ ./...) ;;
        rust) cargo build --quiet --release --manifest-path rust/Cargo.toml --target-dir .lib/rust ;;
        java) java_filter ;;
        *) echo "setup.sh: $what is unknown; write go, rust or java" >&2; exit 2 ;;
    esac
done

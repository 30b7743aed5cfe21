#!/bin/sh
# Fetches the libraries that the programs in this folder are written around, from the usual registries, into .lib here.
#
#   setup.sh               all of them
#   setup.sh python node   only these: python (amazon_kclpy 1.3.1 and 3.2.0), node (aws-kcl 2.3.2), java (KCL 1.7.1, 3.1.3)
#
# Nothing is installed into the system. python needs pip, node needs npm, java needs a JDK and Maven.
set -eu
cd "$(dirname "$0")"
mkdir -p .lib

kclpy() { # VERSION: only the module is wanted, not the jars that its installation fetches
    [ -d ".lib/amazon_kclpy-$1" ] && return
    "${PYTHON:-python3}" -m pip download -q --no-deps --no-binary :all: "amazon_kclpy==$1" -d .lib
    tar xzf ".lib/amazon_kclpy-$1.tar.gz" -C .lib
}

java_host() { # NAME GROUP:ARTIFACT:VERSION PACKAGE
    mkdir -p ".lib/$1"
    cat > ".lib/$1/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>testee</groupId><artifactId>$1</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>${2%%:*}</groupId><artifactId>$(echo "$2" | cut -d: -f2)</artifactId><version>${2##*:}</version>
  </dependency></dependencies>
</project>
POM
    mvn -q -f ".lib/$1/pom.xml" dependency:copy-dependencies -DoutputDirectory=jars
    mkdir -p ".lib/$1/classes"
    javac -nowarn -proc:none -cp ".lib/$1/jars/*" -d ".lib/$1/classes" ../../kits/java/Kit.java java/Hosting.java "$3"
}

for what in ${*:-python node java}; do
    case $what in
        python) kclpy 1.3.1; kclpy 3.2.0 ;;
        node) npm install --silent --ignore-scripts --prefix .lib/node aws-kcl@2.3.2 ;;
        java)
            java_host kcl1 com.amazonaws:amazon-kinesis-client:1.7.1 java/Kcl1Host.java
            java_host kcl3 software.amazon.kinesis:amazon-kinesis-client-multilang:3.1.3 java/Kcl3Host.java
            ;;
        *) echo "setup.sh: $what is unknown; write python, node or java" >&2; exit 2 ;;
    esac
done

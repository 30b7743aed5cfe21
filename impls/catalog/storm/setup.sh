#!/bin/sh
# Fetches the libraries that the programs in this folder are written around, from the usual registries, into .lib here.
#
#   setup.sh               all of them
#   setup.sh python java   only these: python (pystorm 3.1.4, streamparse 5.0.1), java (storm-client 2.8.2, storm-core
#                          0.10.2, and storm.py of multilang-python 2.8.2)
#
# Nothing is installed into the system. python needs pip, java needs a JDK and Maven.
set -eu
cd "$(dirname "$0")"
mkdir -p .lib

java_host() { # NAME RELEASE PACKAGE ARTIFACT:VERSION...: the folder in .lib, that of Release.java, where the library lives
    name=$1 release=$2 package=$3
    shift 3
    mkdir -p ".lib/$name/classes" ".lib/$name/sources"
    {
        echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        echo "<groupId>testee</groupId><artifactId>$name</artifactId><version>1</version><dependencies>"
        for what in "$@"; do
            echo "<dependency><groupId>org.apache.storm</groupId><artifactId>${what%%:*}</artifactId>"
            echo "<version>${what##*:}</version></dependency>"
        done
        echo '</dependencies></project>'
    } > ".lib/$name/pom.xml"
    mvn -q -f ".lib/$name/pom.xml" dependency:copy-dependencies -DoutputDirectory=jars
    sed "s/org\.apache\.storm\./$package./" java/StormHost.java > ".lib/$name/sources/StormHost.java"
    javac -nowarn -proc:none -Xlint:none -cp ".lib/$name/jars/*" -d ".lib/$name/classes" \
        ../../kits/java/Kit.java ".lib/$name/sources/StormHost.java" "java/$release/Release.java"
}

for what in ${*:-python java}; do
    case $what in
        python)
            "${PYTHON:-python3}" -m pip install -q --target .lib/pystorm pystorm==3.1.4
            "${PYTHON:-python3}" -m pip install -q --target .lib/streamparse streamparse==5.0.1
            ;;
        java)
            java_host storm2 storm-2.8 org.apache.storm storm-client:2.8.2 multilang-python:2.8.2
            java_host storm0 storm-0.10 backtype.storm storm-core:0.10.2
            (cd .lib && unzip -o -q storm2/jars/multilang-python-2.8.2.jar resources/storm.py)
            ;;
        *) echo "setup.sh: $what is unknown; write python or java" >&2; exit 2 ;;
    esac
done

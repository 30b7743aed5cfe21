# Data::MessagePack as a filter: one line of hex in, the hex of what was decoded and encoded again out, or ERR and why.
use strict;
use warnings;
use Data::MessagePack;
$| = 1;
my $codec = Data::MessagePack->new->utf8;
while (my $line = <STDIN>) {
    chomp $line;
    my $again = eval { unpack "H*", $codec->pack($codec->unpack(pack "H*", $line)) };
    my $why = $@ =~ s/\s+/ /gr;
    print defined $again ? "$again\n" : "ERR $why\n";
}

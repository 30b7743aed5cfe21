# A program around Net::Stomp, which speaks STOMP 1.0: told by JSON lines, it calls the library.
#
# The library connects again by itself where it finds its connection closed, and that cannot be switched off: nothing is
# asked of it any more once the connection has ended.
use strict;
use warnings;
use JSON::PP;
use Net::Stomp;
use Time::HiRes qw(time);

my $PATIENCE = 5;
my $WAIT     = 2;    # for an answer to CONNECT, also when the library connects again
my $json     = JSON::PP->new->utf8->canonical;
my ( $stomp, $why, @inbox, %refs, %subs, %receipts, $seen, $counter ) = ( undef, 'not connected' );
$counter = 0;
$|       = 1;

sub octets { my $text = shift; utf8::encode($text); return $text }

sub shown { my $octets = shift; utf8::decode($octets); return $octets }

sub over { $why ||= shift; $stomp->socket->close if $stomp && $stomp->socket; return }

sub live { die "$why\n" if $why; return $stomp }

# Take the next frame, if there is one in time.
sub hear {
    my $until = time + shift;
    live();
    my $left = $until - time;
    my $frame = $stomp->receive_frame( { timeout => $left > 0 ? $left : 0 } );
    if ( !$frame ) {
        over('the connection has ended') unless $stomp->socket && $stomp->socket->connected;
        live();
        return 0;
    }
    if    ( $frame->command eq 'MESSAGE' ) { push @inbox, $frame }
    elsif ( $frame->command eq 'RECEIPT' ) { $receipts{ $frame->headers->{'receipt-id'} } = 1 }
    elsif ( $frame->command eq 'ERROR' ) { over( 'ERROR: ' . ( $frame->headers->{message} // '' ) ) }
    return 1;
}

# Call the library with these headers, and wait for the receipt if there is to be one.
sub call {
    my ( $given, $headers, $work ) = @_;
    my $stomp = live();
    my $receipt;
    if ( $given->{receipt} ) {
        $receipt = JSON::PP::is_bool( $given->{receipt} ) ? 'r-' . ++$counter : octets( $given->{receipt} );
        $headers->{receipt} = $receipt;
    }
    $headers->{transaction} = octets( $given->{transaction} ) if defined $given->{transaction};
    $work->( $stomp, $headers );
    my $until = time + $PATIENCE;
    while ( defined $receipt && !$receipts{$receipt} ) {
        die "no receipt came\n" if time >= $until;
        hear( $until - time );
    }
    return JSON::PP::true;
}

# The library leaves these frames to its user.
sub plain {
    my ( $command, $given ) = @_;
    return call( $given, {},
        sub { $_[0]->send_frame( Net::Stomp::Frame->new( { command => $command, headers => $_[1] } ) ) } );
}

my %ops = (
    connect => sub {
        my $given = shift;
        die "unsupported\n" if grep { $_ ne '1.0' } @{ $given->{versions} };
        die "unsupported\n" if grep { $_ } @{ $given->{heart_beat} || [] };
        over('connected again');
        ( $why, @inbox, %refs, %subs, %receipts ) = ('not connected');
        $seen = 0;
        my ( $host, $port ) = split /:/, $given->{address};
        $stomp = Net::Stomp->new( { hostname => $host, port => $port, reconnect_attempts => 1, timeout => $WAIT } );
        my %headers = map { ( $_ => octets( $given->{$_} ) ) } grep { defined $given->{$_} } qw(login passcode host);
        my $frame = $stomp->connect( \%headers );
        if ( !$frame || $frame->command ne 'CONNECTED' ) {
            my $said = $frame ? $frame->command : 'nothing';
            over("connecting was answered by $said");
            die "connecting was answered by $said\n";
        }
        $why = '';
        return JSON::PP::true;
    },
    send => sub {
        my $given   = shift;
        my %more    = %{ $given->{headers} || {} };
        my %headers = ( destination => octets( $given->{destination} ), map { ( octets($_) => octets( $more{$_} ) ) } keys %more );
        $headers{body}          = pack 'H*', $given->{body_hex};
        $headers{bytes_message} = 1;
        return call( $given, \%headers, sub { $_[0]->send( $_[1] ) } );
    },
    subscribe => sub {
        my $given = shift;
        die "unsupported\n" if ( $given->{ack} // '' ) eq 'client-individual';
        my $id      = octets( $given->{sub} );
        my %headers = ( destination => octets( $given->{destination} ), id => $id, ack => $given->{ack} // 'auto' );
        $subs{$id} = $given->{sub};
        return call( $given, \%headers, sub { $_[0]->subscribe( $_[1] ) } );
    },
    unsubscribe => sub {
        my $given = shift;
        return call( $given, { id => octets( $given->{sub} ) }, sub { $_[0]->unsubscribe( $_[1] ) } );
    },
    ack => sub {
        my $given = shift;
        my $frame = $refs{ $given->{ref} } or die "there is no such message\n";
        return call( $given, { frame => $frame }, sub { $_[0]->ack( $_[1] ) } );
    },
    begin   => sub { plain( 'BEGIN',  shift ) },
    commit  => sub { plain( 'COMMIT', shift ) },
    abort   => sub { plain( 'ABORT',  shift ) },
    receive => sub {
        my $given = shift;
        my $until = time + $given->{timeout_ms} / 1000;
        while ( !@inbox ) {
            my $left = $until - time;
            last if !hear( $left > 0 ? $left : 0 ) && $left <= 0;
        }
        my $frame = shift @inbox or return undef;
        my $ref   = ++$seen . '';
        $refs{$ref} = $frame;
        my %headers = map { ( shown($_) => shown( $frame->headers->{$_} // '' ) ) } keys %{ $frame->headers };
        my $sub     = $frame->headers->{subscription};
        return { ref => $ref, headers => \%headers, body_hex => unpack( 'H*', $frame->body // '' ),
            sub => defined $sub ? $subs{$sub} : undef };
    },
    disconnect => sub {
        $stomp->disconnect if $stomp && !$why;
        $why = 'disconnected';
        return JSON::PP::true;
    },
);

while ( my $line = <STDIN> ) {
    my $said   = $json->decode($line);
    my $answer = eval {
        my $op = $ops{ $said->{op} } or die "unsupported\n";
        { ok => $op->($said) }
    };
    if ( !$answer ) { chomp( my $error = "$@" ); $answer = { error => shown($error) || 'it failed' } }
    print $json->encode( { id => $said->{id}, %$answer } ), "\n";
}

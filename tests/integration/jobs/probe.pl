# SPDX-License-Identifier: Apache-2.0
# As probe.py, by what Perl's own commands offer.
use strict;
use Errno;
use Fcntl;
use Socket;

$| = 1;
my %operations = (
    read   => sub { sysopen(my $file, shift, O_RDONLY) },
    write  => sub { sysopen(my $file, shift, O_WRONLY) },
    create => sub { sysopen(my $file, shift, O_WRONLY | O_CREAT | O_EXCL) },
    delete => sub { unlink shift },
    rename => sub { my ($from, $to) = split />/, shift; rename $from, $to },
    link   => sub { my ($from, $to) = split />/, shift; link $from, $to },
    mkdir  => sub { mkdir shift },
    signal => sub { kill 0, shift },
    run    => sub { my $path = shift; my $done = system { $path } $path; $done != -1 },
    connect => sub {
        my ($host, $port) = split /@/, shift;
        my $sock;
        socket($sock, PF_INET, SOCK_STREAM, 0) && connect($sock, pack_sockaddr_in($port, inet_aton($host)));
    },
);
for my $operation (@ARGV) {
    my ($kind, $argument) = split /:/, $operation, 2;
    $! = 0;
    if ($operations{$kind}->($argument)) {
        print "$operation ok\n";
    } else {
        my ($name) = grep { $!{$_} } qw(EACCES EPERM EXDEV ENOENT EEXIST ECONNREFUSED);
        print "$operation ", $name // $! + 0, "\n";
    }
}

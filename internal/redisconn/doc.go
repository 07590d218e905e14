// Package redisconn connects weir to any Redis that a URL names, and says in
// one line what is wrong when it cannot:
//
//	redis://[USER[:PASSWORD]@]HOST[:PORT][/DB]           one server
//	unix://[USER[:PASSWORD]@]/PATH[?db=DB]               one server, by its socket
//	redis+sentinel://[…@]HOST[:PORT],…/MASTER[/DB]       the primary that sentinels name
//	redis+cluster://[…@]HOST[:PORT],…                    a cluster
//
// rediss, rediss+sentinel and rediss+cluster are the same over TLS. Sentinels
// with a login of their own take it from ?sentinel-user=NAME and
// ?sentinel-password=TEXT. Reserved characters of a name or a password are
// written as %XX. No password is ever part of an error or of a URL shown.
package redisconn

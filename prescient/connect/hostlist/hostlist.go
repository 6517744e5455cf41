// Package hostlist cuts the list of hosts in a DSN such as user:password@tcp(host1:port,host2:port)/database.
package hostlist

import "strings"

// Host is one host of a list: its address, and the DSN with it alone.
type Host struct{ Address, DSN string }

// Cut returns the hosts of a DSN, one for a DSN without a list. It cuts where the driver does, and judges nothing: a DSN that
// has no address in parentheses, or a socket's, is the one host as it is, with no address.
func Cut(dsn string) []Host {
	slash := strings.LastIndexByte(dsn, '/')
	network := strings.LastIndexByte(dsn[:max(slash, 0)], '@') + 1
	open := network + strings.IndexByte(dsn[network:max(slash, network)], '(')
	if open < network || dsn[slash-1] != ')' || dsn[network:open] == "unix" {
		return []Host{{DSN: dsn}}
	}
	var list []Host
	for address := range strings.SplitSeq(dsn[open+1:slash-1], ",") {
		list = append(list, Host{Address: address, DSN: dsn[:open+1] + address + dsn[slash-1:]})
	}
	return list
}

package broker

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Address is a broker's URL, taken apart. It may have several hosts with commas between them, where net/url knows one.
type Address struct {
	Scheme string
	User   *url.Userinfo // nil where there is none
	Hosts  []string      // host or host:port, as they are given
	Path   string
	Query  url.Values
}

// ParseAddress takes a URL of one of these schemes apart. Its errors show nothing of the URL, since a password may be anywhere in
// one that is written wrong.
func ParseAddress(text string, schemes ...string) (Address, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || !slices.Contains(schemes, scheme) {
		return Address{}, fmt.Errorf("the URL does not begin with %s://", strings.Join(schemes, ":// or "))
	}
	authority, path := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, path = rest[:end], rest[end:]
	}
	at := strings.LastIndex(authority, "@") + 1
	whole, err := url.Parse("x://" + authority[:at] + "host" + path)
	if err != nil {
		return Address{}, errors.New("the URL has a user, a password or a path that cannot be read: are its special characters percent-encoded?")
	}
	if whole.Fragment != "" {
		return Address{}, errors.New("the URL has a fragment; write # as %23")
	}
	query, err := url.ParseQuery(whole.RawQuery)
	if err != nil {
		return Address{}, errors.New("the URL has a query that cannot be read")
	}
	address := Address{Scheme: scheme, User: whole.User, Path: whole.Path, Query: query}
	for host := range strings.SplitSeq(authority[at:], ",") {
		if err := checkHost(host); err != nil {
			return Address{}, err
		}
		address.Hosts = append(address.Hosts, host)
	}
	return address, nil
}

// ParseOne is ParseAddress for a URL of one host, which it returns as net/url has it, too.
func ParseOne(text string, schemes ...string) (Address, *url.URL, error) {
	address, err := ParseAddress(text, schemes...)
	if err != nil {
		return Address{}, nil, err
	}
	u, err := url.Parse(text)
	if err != nil || len(address.Hosts) != 1 {
		return Address{}, nil, errors.New("the URL has more than one host, or cannot be read")
	}
	return address, u, nil
}

func checkHost(host string) error {
	u, err := url.Parse("x://" + host)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return errors.New("the URL has a host that cannot be read: want host or host:port, and commas between them")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errors.New("the URL has a port that is not within 1 to 65535")
		}
	}
	return nil
}

// Settings returns what stands in the query, by name. A name that is not known, or comes twice, is an error.
func (a Address) Settings(known ...string) (map[string]string, error) {
	settings := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(a.Query)) {
		values := a.Query[name]
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			return nil, fmt.Errorf("the URL has the parameter %.40q; it may have none", name)
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("the URL has the unknown parameter %.40q; known are %s", name, strings.Join(known, ", "))
		case len(values) > 1:
			return nil, fmt.Errorf("the URL has the parameter %s twice", name)
		}
		settings[name] = values[0]
	}
	return settings, nil
}

// Password returns the password of the URL and whether there is one.
func (a Address) Password() (string, bool) {
	if a.User == nil {
		return "", false
	}
	return a.User.Password()
}

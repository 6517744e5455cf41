package value

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// BaseURL is an absolute URL, http or https, below which others are: it has no user, query and fragment.
func BaseURL(into *string) Parser {
	return func(text string) error {
		const want = "want one as in https://ops.example.org/prescient, without user, query and fragment"
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") {
			return errors.New("it is no such URL; " + want)
		}
		*into = text
		return nil
	}
}

// Networks are addresses and networks, parted by commas.
func Networks(into *[]netip.Prefix) Parser {
	return func(text string) error {
		var all []netip.Prefix
		for item := range strings.SplitSeq(text, ",") {
			item = strings.TrimSpace(item)
			p, err := netip.ParsePrefix(item)
			if addr, ofAddr := netip.ParseAddr(item); ofAddr == nil && addr.Zone() == "" {
				p, err = addr.Prefix(addr.BitLen())
			}
			if err != nil {
				return fmt.Errorf("%s is no address and no network; want some such as 10.0.0.7,10.1.0.0/16", Quote(item))
			}
			all = append(all, p.Masked())
		}
		*into = all
		return nil
	}
}

// Assigned is a word for each of some texts, such as sre=operator,*=viewer.
func Assigned(into *map[string]string, allowed ...string) Parser {
	return func(text string) error {
		all := make(map[string]string)
		for item := range strings.SplitSeq(text, ",") {
			at := strings.LastIndex(item, "=")
			if at < 0 {
				return fmt.Errorf("%s has no = in it; want some such as sre=%s", Quote(item), allowed[0])
			}
			name, word := strings.TrimSpace(item[:at]), strings.TrimSpace(item[at+1:])
			if err := Label(&name, 255)(name); err != nil || name == "" {
				return errors.Join(fmt.Errorf("%s has no text before its =", Quote(item)), err)
			}
			if _, again := all[name]; again {
				return fmt.Errorf("%s is given twice", Quote(name))
			}
			if !slices.Contains(allowed, word) {
				return fmt.Errorf("%s is not known; allowed are %s", Quote(word), strings.Join(allowed, ", "))
			}
			all[name] = word
		}
		*into = all
		return nil
	}
}

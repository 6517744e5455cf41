package value

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// HTTPURL is an absolute URL, which is shown without user, path and query: any of them may be a credential.
func HTTPURL(into *Secret) Parser {
	return func(text string) error {
		const want = "; want http:// or https://, a host, and no fragment"
		u, err := url.Parse(text)
		switch {
		case err != nil:
			return errors.New("it is no URL" + want)
		case u.Scheme != "http" && u.Scheme != "https":
			return errors.New("its scheme is not allowed" + want)
		case u.Opaque != "" || u.Hostname() == "":
			return errors.New("it has no host" + want)
		case u.Fragment != "" || strings.HasSuffix(text, "#"):
			return errors.New("it has a fragment" + want)
		}
		if port, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || port == 0) {
			return errors.New("its port is not within 1 to 65535" + want)
		}
		shown := u.Scheme + "://" + u.Host
		if u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "" {
			shown += "/" + Mask
		}
		*into = SecretShownAs(text, shown)
		return nil
	}
}

package config

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// httpKey returns the key of a field of an item: jobs.http[0].url.
func httpKey(i int, name string) string { return fmt.Sprintf("%s[%d].%s", keyHTTP, i, name) }

// httpJob reads an item of jobs.http, which begins in a line.
func (l *loader) httpJob(i, line int) HTTPJob {
	var job HTTPJob
	for _, f := range httpFields(&job) {
		key := httpKey(i, f.name)
		v := l.document.values[key]
		if v.text == "" {
			if f.name == "exec" || f.name == "url" {
				l.addf(key, l.document.source(line), "it is missing")
			}
			continue
		}
		l.set(f, key, v.text, l.document.source(v.line))
		shown := v.text
		if f.name == "url" {
			shown = job.URL.String()
		}
		l.note(key, shown, l.document.source(v.line))
	}
	job.Secret = l.secret(i)
	job.Headers = l.headers(i)
	return job
}

// headers reads the headers of an item.
func (l *loader) headers(i int) map[string]Secret {
	var headers map[string]Secret
	parent := httpKey(i, keyHeaders)
	for _, name := range l.document.named[parent] {
		key := join(parent, name)
		v, given := l.document.values[key]
		if !given {
			continue
		}
		source := l.document.source(v.line)
		switch {
		case name == "" || strings.ContainsFunc(name, notInToken):
			l.addf(plain(key), source, "the name of a header is not allowed; only letters, digits and !#$%%&'*+-.^_`|~ are")
		case strings.ContainsFunc(v.text, notInHeader):
			l.addf(key, source, "it has a control character, which is not allowed in a header")
		default:
			if headers == nil {
				headers = make(map[string]Secret)
			}
			headers[name] = NewSecret(v.text)
			l.note(key, headers[name].String(), source)
		}
	}
	return headers
}

func notInToken(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func notInHeader(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// httpURL is an absolute URL, which is shown without user, path and query: any of them may be a credential.
func httpURL(into *Secret) parser {
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
			shown += "/" + mask
		}
		*into = newSecret(text, shown)
		return nil
	}
}

// referredVariables are those that hold the secrets of jobs.
func (l *loader) referredVariables() []string {
	var names []string
	for i := range l.document.items {
		if v := l.document.values[httpKey(i, keySecretEnv)]; v.text != "" {
			names = append(names, v.text)
		}
	}
	return names
}

package config

import (
	"errors"
	"fmt"
	"strings"

	"prescient/config/value"
)

// httpKey returns the key of a field of an item: jobs.http[0].url.
func httpKey(i int, name string) string { return itemKey(keyHTTP, i, name) }

// itemKey returns the key of a field of an item of a list.
func itemKey(list string, i int, name string) string { return fmt.Sprintf("%s[%d].%s", list, i, name) }

// elementKey returns the key of a value of a list: jobs.command[0].run[1].
func elementKey(list string, n int) string { return fmt.Sprintf("%s[%d]", list, n) }

// readHTTPJobs reads the items of jobs.http, and notes their keys for Describe.
func readHTTPJobs(d document, env func(string) (string, bool), s *settings, p *problems) []HTTPJob {
	var jobs []HTTPJob
	for i, line := range d.items[keyHTTP] {
		job := readHTTPJob(i, line, d, s, p)
		job.Secret = signingSecret(keyHTTP, i, d, env, p)
		job.Headers = readHeaders(i, d, s, p)
		jobs = append(jobs, job)
	}
	return jobs
}

// readHTTPJob reads the keys of an item that have one value. The item begins in a line.
func readHTTPJob(i, line int, d document, s *settings, p *problems) HTTPJob {
	var job HTTPJob
	for _, f := range httpFields(&job) {
		key := httpKey(i, f.name)
		v := d.values[key]
		if v.text == "" {
			if f.name == "exec" || f.name == "url" {
				p.addf(key, d.source(line), "it is missing")
			}
			continue
		}
		f.read(key, v.text, d.source(v.line), p)
		shown := v.text
		if f.name == "url" {
			shown = job.URL.String()
		}
		s.note(Setting{Key: key, Value: shown, Source: d.source(v.line)})
	}
	refusePoolOfShort(keyHTTP, i, job.Pool, job.Long, d, p)
	return job
}

// refusePoolOfShort finds an item that has a pool and no long runs.
func refusePoolOfShort(list string, i int, pool string, long bool, d document, p *problems) {
	if key := itemKey(list, i, "pool"); pool != "" && !long {
		p.addf(key, d.source(d.values[key].line), "%s is not allowed without long: true; pools are for long runs", value.Quote(pool))
	}
}

// readHeaders reads the headers of an item.
func readHeaders(i int, d document, s *settings, p *problems) map[string]value.Secret {
	var headers map[string]value.Secret
	parent := httpKey(i, keyHeaders)
	for _, name := range d.named[parent] {
		key := join(parent, name)
		v, given := d.values[key]
		if !given {
			continue
		}
		source := d.source(v.line)
		switch {
		case name == "" || strings.ContainsFunc(name, notInToken):
			p.addf(value.Plain(key), source, "the name of a header is not allowed; only letters, digits and !#$%%&'*+-.^_`|~ are")
		case strings.ContainsFunc(v.text, notInHeader):
			p.addf(key, source, "it has a control character, which is not allowed in a header")
		default:
			if headers == nil {
				headers = make(map[string]value.Secret)
			}
			headers[name] = value.NewSecret(v.text)
			s.note(Setting{Key: key, Value: headers[name].String(), Source: source})
		}
	}
	return headers
}

func notInToken(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func notInHeader(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// signingSecret reads what signs the calls of an item, from a file or from a variable.
func signingSecret(list string, i int, d document, env func(string) (string, bool), p *problems) value.Secret {
	file, variable := d.values[itemKey(list, i, keySecretFile)], d.values[itemKey(list, i, keySecretEnv)]
	switch {
	case file.text != "" && variable.text != "":
		p.addf(itemKey(list, i, keySecretFile), d.source(file.line),
			"%s is given too; only one of the two is allowed", keySecretEnv)
	case file.text != "":
		text, err := readSecret(file.text)
		if err != nil {
			p.add(itemKey(list, i, keySecretFile), d.source(file.line), err)
		}
		return value.NewSecret(text)
	case variable.text != "":
		text, _ := env(variable.text)
		if text == "" {
			err := errors.New("the environment has no variable " + value.Plain(variable.text) + ", or an empty one")
			p.add(itemKey(list, i, keySecretEnv), d.source(variable.line), err)
		}
		return value.NewSecret(text)
	}
	return value.Secret{}
}

// referredVariables are those that hold the secrets of items.
func referredVariables(d document) []string {
	var names []string
	for list, items := range d.items {
		for i := range items {
			if v := d.values[itemKey(list, i, keySecretEnv)]; v.text != "" {
				names = append(names, v.text)
			}
		}
	}
	return names
}

package config

import (
	"errors"
	"strings"

	"prescient/config/value"
)

// readHTTPJob reads an item of jobs.http.
func readHTTPJob(i item, env func(string) (string, bool)) (job HTTPJob) {
	i.read(httpFields(&job), map[string]*value.Secret{"url": &job.URL}, "exec", "url")
	i.refusePoolOfShort(job.Pool, job.Long)
	job.Secret = i.signingSecret(env)
	job.Headers = i.secrets(keyHeaders, checkHeader)
	return job
}

func checkHeader(name, text string) error {
	switch {
	case name == "" || strings.ContainsFunc(name, notInToken):
		return errors.New("the name of a header is not allowed; only letters, digits and !#$%&'*+-.^_`|~ are")
	case strings.ContainsFunc(text, notInHeader):
		return errors.New("it has a control character, which is not allowed in a header")
	}
	return nil
}

func notInToken(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func notInHeader(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

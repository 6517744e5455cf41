// Package mail sends messages of findings by e-mail. A program compiles it only where it names it.
//
// The URL of the server is smtp://user@host:587, where TLS has to begin before anything is said, smtps://user@host:465, or smtp+plain://host:25, which
// has no TLS, and no user. Certificates are verified. Headers have words of this program, the place and the addresses of the configuration; others' text
// stands in the body alone.
package mail

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"prescient/prescient"
	"prescient/prescient/notify"
)

// partTime is how long each of two parts may take: until the server has let this one in, and until it has the message.
const partTime = 10 * time.Second

type sender struct {
	host, domain string
	options      []gomail.Option
	from         string
	to           []string
	hidden       *strings.Replacer
	has          map[string][]string // by the id of a message that is to be sent again, the addresses that have it
}

// Open returns what sends to some addresses. Nothing is sent yet.
func Open(server, password, from string, to []string) (notify.Sender, error) {
	return open(server, password, from, to, &tls.Config{MinVersion: tls.VersionTLS12})
}

func open(server, password, from string, to []string, with *tls.Config) (notify.Sender, error) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("it is no URL of a server of e-mail")
	}
	address, err := mail.ParseAddress(from)
	if err != nil || len(to) == 0 {
		return nil, errors.New("e-mail needs an address that it is from, and one that it is for")
	}
	s := &sender{host: u.Hostname(), from: from, to: to, hidden: strings.NewReplacer()}
	s.domain = address.Address[strings.LastIndexByte(address.Address, '@')+1:]
	with = with.Clone()
	with.ServerName = s.host
	s.options = []gomail.Option{gomail.WithTimeout(partTime), gomail.WithTLSConfig(with)}
	port := 0
	switch u.Scheme {
	case "smtp":
		port = 587
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case "smtps":
		port = 465
		s.options = append(s.options, gomail.WithSSL())
	case "smtp+plain":
		port = 25
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		return nil, fmt.Errorf("the scheme %.20q is none of e-mail; smtp, smtps and smtp+plain are allowed", u.Scheme)
	}
	if text := u.Port(); text != "" {
		if port, err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("the port %.20q is no number", text)
		}
	}
	s.options = append(s.options, gomail.WithPort(port))
	user := u.User.Username()
	switch {
	case user == "" && password != "":
		return nil, errors.New("it has no user, whose password is given")
	case user != "" && password == "":
		return nil, errors.New("it has a user, whose password is not given; name it with secret_file or secret_env")
	case user != "" && u.Scheme == "smtp+plain":
		return nil, errors.New("it has a user, whose password would be sent without TLS")
	case user != "":
		s.options = append(s.options, gomail.WithUsername(user), gomail.WithPassword(password), gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover))
		encoded := base64.StdEncoding.EncodeToString
		s.hidden = strings.NewReplacer(password, "…", encoded([]byte(password)), "…", encoded([]byte("\x00"+user+"\x00"+password)), "…")
	}
	if _, err := gomail.NewClient(s.host, s.options...); err != nil {
		return nil, s.clean(err)
	}
	return s, nil
}

// Send implements notify.Sender. An address that the server refuses keeps no other from its message.
func (s *sender) Send(ctx context.Context, m notify.Message) error {
	left := slices.DeleteFunc(slices.Clone(s.to), func(to string) bool { return slices.Contains(s.has[m.ID], to) })
	err := s.deliver(ctx, m, left...)
	if refusal(err) == nil || len(s.to) == 1 {
		return s.clean(err)
	}
	var again, never []error
	for _, to := range left {
		switch err := s.deliver(ctx, m, to); {
		case err == nil:
			s.note(m.ID, to)
		case refusal(err) != nil && !refusal(err).IsTemp():
			never = append(never, err)
		default:
			again = append(again, err)
		}
	}
	switch {
	case len(again) > 0 || len(s.has[m.ID]) == 0:
		return s.clean(errors.Join(append(again, never...)...))
	case len(never) > 0:
		return &notify.PartError{Err: s.clean(errors.Join(never...))}
	}
	return nil
}

// mostHeld is how many messages there are at most of which it is known who has them.
const mostHeld = 100

func (s *sender) note(id, to string) {
	if s.has == nil || len(s.has) >= mostHeld {
		s.has = make(map[string][]string)
	}
	s.has[id] = append(s.has[id], to)
}

// refusal is what a server said where it does not take an address; nil for any other error.
func refusal(err error) *gomail.SendError {
	var e *gomail.SendError
	if errors.As(err, &e) && e.Reason == gomail.ErrSMTPRcptTo {
		return e
	}
	return nil
}

// deliver sends a message to some addresses, by a connection of its own.
func (s *sender) deliver(ctx context.Context, m notify.Message, to ...string) error {
	message := gomail.NewMsg()
	if err := errors.Join(message.From(s.from), message.To(to...)); err != nil {
		return err
	}
	message.Subject(m.Subject())
	message.SetMessageIDWithValue(m.ID + "@" + s.domain)
	message.SetDateWithValue(m.At)
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetBodyString(gomail.TypeTextPlain, m.Body())
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return err
	}
	// The library heeds ctx until it is connected, and then its own time.
	sent := make(chan error, 1)
	go func() {
		err := client.DialAndSendWithContext(ctx, message)
		if message.IsDelivered() {
			err = nil // whatever the server said to the goodbye
		}
		sent <- err
	}()
	select {
	case err = <-sent:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mostSaid is how much of an error is told, in characters.
const mostSaid = 300

// clean is an error with the server, on one line, and without the password, should the server repeat it.
func (s *sender) clean(err error) error {
	if err == nil {
		return nil
	}
	text := strings.ToValidUTF8(s.hidden.Replace(strings.Join(strings.Fields(err.Error()), " ")), "�")
	return fmt.Errorf("mail by %s: %s", s.host, prescient.Shorten(text, mostSaid))
}

package value

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"
	"time"
)

// Hours are from one time of the day until another, such as 22:00-07:00.
func Hours(from, until *time.Duration) Parser {
	return func(text string) error {
		first, last, found := strings.Cut(text, "-")
		begins, wrong := time.Parse("15:04", strings.TrimSpace(first))
		ends, alsoWrong := time.Parse("15:04", strings.TrimSpace(last))
		if !found || wrong != nil || alsoWrong != nil || begins.Equal(ends) {
			return fmt.Errorf("%s are no hours; want two different times of the day, such as 22:00-07:00", Quote(text))
		}
		midnight := begins.Truncate(Day)
		*from, *until = begins.Sub(midnight), ends.Sub(midnight)
		return nil
	}
}

// Zone is a time zone by its name in the tz database.
func Zone(into **time.Location) Parser {
	return func(text string) error {
		zone, err := time.LoadLocation(text)
		if err != nil || text == "Local" {
			return fmt.Errorf("%s is no time zone; want one such as Europe/Berlin or UTC", Quote(text))
		}
		*into = zone
		return nil
	}
}

// Addresses are addresses of e-mail, parted by commas: ops@example.org, Ada <ada@example.org>.
func Addresses(into *[]string, most int) Parser {
	return func(text string) error {
		list, err := mail.ParseAddressList(text)
		if err != nil || strings.ContainsAny(text, "\r\n") {
			return fmt.Errorf("%s is no list of addresses; want some such as ops@example.org, Ada <ada@example.org>", Quote(text))
		}
		if len(list) > most {
			return fmt.Errorf("it has %d addresses; at most %d are allowed", len(list), most)
		}
		*into = nil
		for _, one := range list {
			*into = append(*into, one.String())
		}
		return nil
	}
}

// ReceiverURL is an HTTPURL, or one of a server of e-mail: smtp, which has to begin TLS, smtps, or smtp+plain without any. A user may stand in it, a
// password may not.
func ReceiverURL(into *Secret) Parser {
	return func(text string) error {
		scheme, _, _ := strings.Cut(text, ":")
		if !strings.HasPrefix(scheme, "smtp") {
			return HTTPURL(into)(text)
		}
		const want = "; want one such as smtp://user@mail.example.org:587, smtps:// or smtp+plain://, without path and query"
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || strings.Contains(text, "#"):
			return errors.New("it is no URL of a server of e-mail" + want)
		case u.Scheme != "smtp" && u.Scheme != "smtps" && u.Scheme != "smtp+plain":
			return errors.New("its scheme is not allowed" + want)
		case u.Scheme == "smtp+plain" && u.User != nil:
			return errors.New("it has a user, whose password would be sent to anybody who listens; want smtp or smtps")
		}
		if _, has := u.User.Password(); has {
			return errors.New("it has a password, which does not belong into the file; name it with secret_file or secret_env")
		}
		*into = SecretShownAs(text, u.Scheme+"://"+u.Host)
		return nil
	}
}

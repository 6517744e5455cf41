package value

import (
	"errors"
	"regexp"
	"strings"
)

var (
	topicsPattern = regexp.MustCompile(`^([A-Za-z0-9_./-]{1,128}|[A-Za-z0-9_./-]{0,128}\*)$`)
	schemePattern = regexp.MustCompile(`^([a-z][a-z0-9+.-]*):[^#]*$`)
)

// Topics is a topic, or the beginning of some and *.
func Topics(into *string) Parser {
	return func(text string) error {
		if !topicsPattern.MatchString(text) {
			return errors.New(Quote(text) + " is not allowed; want a topic of letters, digits and _ . - / , or the beginning of some and *")
		}
		*into = text
		return nil
	}
}

// Topic returns an error where a text is no topic.
func Topic(text string) error {
	if topic := ""; Topics(&topic)(text) != nil || strings.HasSuffix(text, "*") {
		return errors.New(Quote(text) + " is not allowed; want a topic of letters, digits and _ . - /")
	}
	return nil
}

// BrokerURL is a URL of whatever scheme, whose hosts may be several: the broker reads the rest.
func BrokerURL(into *Secret) Parser {
	return func(text string) error {
		parts := schemePattern.FindStringSubmatch(text)
		if parts == nil {
			return errors.New("it is no URL; want a scheme that names the broker, such as nats://, and no fragment")
		}
		*into = SecretShownAs(text, parts[1]+"://"+Mask)
		return nil
	}
}

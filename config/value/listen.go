package value

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// ListenAddress is a host:port to listen at.
func ListenAddress(into *string) Parser {
	return func(text string) error {
		if err := CheckListen(text); err != nil {
			return err
		}
		*into = text
		return nil
	}
}

// CheckListen says what is wrong with an address to listen at, a host:port; empty is nowhere, and right.
func CheckListen(text string) error {
	if text == "" {
		return nil
	}
	const want = "want host:port, such as 127.0.0.1:9464, or :9464 for every address"
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("%s is no address; "+want, Quote(text))
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%s has no port of 0 to 65535; "+want, Quote(text))
	}
	if len(host) > 255 {
		return errors.New("its host is longer than 255 characters; " + want)
	}
	return nil
}

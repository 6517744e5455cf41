package command

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"prescient/prescient"
)

// account is the user that a program runs as.
type account struct {
	name, home string
	uid, gid   uint32
	groups     []uint32
}

// accountOf looks a user up, by name or number; nil for none. The error wraps prescient.ErrInvalid.
func accountOf(name string) (*account, error) {
	if name == "" {
		return nil, nil
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: User %q: only root may run a program as another user", prescient.ErrInvalid, name)
	}
	u, err := user.Lookup(name)
	if _, number := strconv.ParseUint(name, 10, 32); number == nil && err != nil {
		u, err = user.LookupId(name)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: User %q: %w", prescient.ErrInvalid, name, err)
	}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("groups of user %q: %w", name, err)
	}
	a := &account{name: u.Username, home: u.HomeDir}
	numbers := make([]uint32, 0, len(groups)+2)
	for _, text := range append([]string{u.Uid, u.Gid}, groups...) {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %q has the number %q: %w", name, text, err)
		}
		numbers = append(numbers, uint32(n))
	}
	a.uid, a.gid, a.groups = numbers[0], numbers[1], numbers[2:]
	return a, nil
}

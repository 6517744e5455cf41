package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"prescient/config/value"
)

// item is an item of a list of the file: what it says is read from the document, noted among the settings, or told as a problem.
type item struct {
	document
	*settings
	*problems
	list         string
	number, line int // the line where it begins
}

// itemsOf are the items of a list.
func itemsOf(list string, d document, s *settings, p *problems) (items []item) {
	for i, line := range d.items[list] {
		items = append(items, item{d, s, p, list, i, line})
	}
	return items
}

// itemKey returns the key of a field of an item of a list: jobs.http[0].url.
func itemKey(list string, i int, name string) string { return fmt.Sprintf("%s[%d].%s", list, i, name) }

// elementKey returns the key of a value of a list: jobs.command[0].run[1].
func elementKey(list string, n int) string { return fmt.Sprintf("%s[%d]", list, n) }

func (i item) key(name string) string { return itemKey(i.list, i.number, name) }

// read reads the keys that have one value, of which some are wanted. Of secrets no more is noted than may be shown.
func (i item) read(fields []field, secrets map[string]*value.Secret, wanted ...string) {
	for _, f := range fields {
		key := i.key(f.name)
		v := i.values[key]
		source := i.source(cmp.Or(v.line, i.line))
		text := cmp.Or(v.text, f.fallback)
		if text == "" {
			if slices.Contains(wanted, f.name) {
				i.addf(key, i.source(i.line), "it is missing")
			}
			continue
		}
		f.read(key, text, source, i.problems)
		if secret, is := secrets[f.name]; is {
			text = secret.String()
		}
		i.note(Setting{Key: key, Value: text, Source: source})
	}
}

// refusePoolOfShort finds an item that has a pool and no long runs.
func (i item) refusePoolOfShort(pool string, long bool) {
	if key := i.key("pool"); pool != "" && !long {
		i.addf(key, i.source(i.values[key].line), "%s is not allowed without long: true; pools are for long runs", value.Quote(pool))
	}
}

// secrets reads values by names of one's own, nil for none. None of them is printed. check says what is wrong with one.
func (i item) secrets(under string, check func(name, text string) error) map[string]value.Secret {
	var all map[string]value.Secret
	parent := i.key(under)
	for _, name := range i.named[parent] {
		key := join(parent, name)
		v, given := i.values[key]
		if !given {
			continue
		}
		if err := check(name, v.text); err != nil {
			i.add(value.Plain(key), i.source(v.line), err)
			continue
		}
		if all == nil {
			all = make(map[string]value.Secret)
		}
		all[name] = value.NewSecret(v.text)
		i.note(Setting{Key: key, Value: all[name].String(), Source: i.source(v.line)})
	}
	return all
}

// signingSecret reads what signs the calls of an item, from a file or from a variable.
func (i item) signingSecret(env func(string) (string, bool)) value.Secret {
	secret, _ := i.secret(keySecretFile, keySecretEnv, env)
	return secret
}

// secret reads a secret from the file that one key of an item names, or from the variable that another does, and returns the key of which it came.
func (i item) secret(ofFile, ofVariable string, env func(string) (string, bool)) (value.Secret, string) {
	fileKey, variableKey := i.key(ofFile), i.key(ofVariable)
	file, variable := i.values[fileKey], i.values[variableKey]
	switch {
	case file.text != "" && variable.text != "":
		i.addf(fileKey, i.source(file.line), "%s is given too; only one of the two is allowed", ofVariable)
	case file.text != "":
		text, err := ReadSecret(file.text)
		if err != nil {
			i.add(fileKey, i.source(file.line), err)
		}
		return value.NewSecret(text), fileKey
	case variable.text != "":
		text, _ := env(variable.text)
		if text == "" {
			err := errors.New("the environment has no variable " + value.Plain(variable.text) + ", or an empty one")
			i.add(variableKey, i.source(variable.line), err)
		}
		return value.NewSecret(text), variableKey
	}
	return value.Secret{}, ""
}

// each reads the values of a list of an item.
func (i item) each(name string, most int, set value.Parser) {
	list := i.key(name)
	if n := len(i.items[list]); n > most {
		i.addf(list, i.source(i.line), "it has %d values; at most %d are allowed", n, most)
		return
	}
	for n := range i.items[list] {
		key := elementKey(list, n)
		v := i.values[key]
		if err := set(v.text); err != nil {
			i.add(key, i.source(v.line), err)
			continue
		}
		i.note(Setting{Key: key, Value: v.text, Source: i.source(v.line)})
	}
}

// referredVariables are those that hold the secrets of items.
func referredVariables(d document) []string {
	var names []string
	for list, items := range d.items {
		for i := range items {
			for _, key := range []string{keySecretEnv, keyDSNEnv} {
				if v := d.values[itemKey(list, i, key)]; v.text != "" {
					names = append(names, v.text)
				}
			}
		}
	}
	return names
}

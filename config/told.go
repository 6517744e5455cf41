package config

import (
	"strings"

	"prescient/config/value"
)

// mostHeartbeats and mostReceivers are how many of each there are at most.
const mostHeartbeats, mostReceivers = 50, 20

// readHeartbeats reads the items of heartbeats.urls.
func readHeartbeats(d document, s *settings, p *problems) (all []Heartbeat) {
	named := make(map[string]string)
	items := itemsOf(keyHeartbeats, d, s, p)
	for n, i := range items {
		if n == mostHeartbeats {
			p.addf(keyHeartbeats, i.source(i.line), "it has %d items; at most %d are allowed", len(items), mostHeartbeats)
			break
		}
		var h Heartbeat
		i.read(heartbeatFields(&h), map[string]*value.Secret{"start": &h.Start, "success": &h.Success, "failure": &h.Failure}, "name", "success")
		key := i.key("name")
		if other, taken := named[h.Name]; taken && h.Name != "" {
			p.addf(key, i.source(i.values[key].line), "%s is the name of %s too; each heartbeat needs its own", value.Quote(h.Name), other)
		}
		named[h.Name] = key
		all = append(all, h)
	}
	return all
}

// checkSlots makes sure that what is told of served slots is there.
func (h Heartbeats) checkSlots(l layers, p *problems) {
	if h.Slots == "" || p.has(keyHeartbeats, keyBeatOfSlots) {
		return
	}
	for _, one := range h.URLs {
		if one.Name == h.Slots {
			return
		}
	}
	text, source := l.given(keyBeatOfSlots)
	p.addf(keyBeatOfSlots, source, "%s is no name in %s", value.Quote(text), keyHeartbeats)
}

// readReceivers reads the items of notify.receivers.
func readReceivers(d document, s *settings, p *problems, env func(string) (string, bool)) (all []Receiver) {
	named := make(map[string]string)
	items := itemsOf(keyReceivers, d, s, p)
	for n, i := range items {
		if n == mostReceivers {
			p.addf(keyReceivers, i.source(i.line), "it has %d items; at most %d are allowed", len(items), mostReceivers)
			break
		}
		var r Receiver
		i.read(receiverFields(&r), map[string]*value.Secret{"url": &r.URL}, "name", "url")
		key := i.key("name")
		if other, taken := named[r.Name]; taken && r.Name != "" {
			p.addf(key, i.source(i.values[key].line), "%s is the name of %s too; each receiver needs its own", value.Quote(r.Name), other)
		}
		named[r.Name] = key
		r.Secret = i.signingSecret(env)
		i.compareReceiver(r)
		all = append(all, r)
	}
	return all
}

// compareReceiver compares the kind of a receiver with what else is said of it.
func (i item) compareReceiver(r Receiver) {
	refuse := func(name, why string) {
		if v, given := i.values[i.key(name)]; given && v.text != "" {
			i.addf(i.key(name), i.source(v.line), "it is not allowed with kind: %s; %s", r.Kind, why)
		}
	}
	mails := strings.HasPrefix(r.URL.Reveal(), "smtp")
	switch {
	case r.URL.IsZero():
	case mails != (r.Kind == KindMail):
		i.addf(i.key("url"), i.source(i.values[i.key("url")].line), "its scheme is not allowed with kind: %s; smtp, smtps and smtp+plain are for mail, http and https for the others", r.Kind)
	}
	if r.Kind == KindMail {
		for _, name := range []string{"from", "to"} {
			if i.values[i.key(name)].text == "" && !i.problems.has(i.key(name)) {
				i.addf(i.key(name), i.source(i.line), "it is missing; mail needs it")
			}
		}
		return
	}
	for _, name := range []string{"from", "to"} {
		refuse(name, "only mail has addresses")
	}
	if r.Kind != KindAlertmanager {
		return
	}
	for _, name := range []string{keySecretFile, keySecretEnv} {
		refuse(name, "a user and a password of its own may stand in the url")
	}
	for _, name := range []string{"quiet", "quiet_for", "zone", "rate"} {
		refuse(name, "whom an Alertmanager tells when is for its own configuration")
	}
}

package program

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"prescient/config"
	"prescient/config/value"
	"prescient/prescient/doctor"
	"prescient/prescient/notify"
	"prescient/prescient/service"
	"prescient/sql"
)

// NotifierOf is what tells people of findings, as it is configured; nil where nobody is to be told.
func (s *Session) NotifierOf(ctx context.Context) (service.Notify, error) {
	n, err := s.OpenNotifier(ctx)
	if n == nil || err != nil {
		return nil, err
	}
	return n, nil
}

// OpenNotifier is NotifierOf as it is.
func (s *Session) OpenNotifier(ctx context.Context) (*notify.Notifier, error) {
	c := s.Config.Notify
	if err := doctor.CheckCodes(c.Ignore); err != nil {
		return nil, fmt.Errorf("notify.ignore: %w", err)
	}
	if len(c.Receivers) == 0 {
		return nil, nil
	}
	place := strings.TrimSpace(s.Config.Serve.Place + " " + s.Shard)
	to := notify.Settings{Every: c.Every, Hold: orNever(c.Hold), Gone: orNever(c.Gone), Reminder: orNever(c.Reminder), Ignore: c.Ignore, Place: place, Page: s.Config.Serve.BaseURL}
	for i, r := range c.Receivers {
		sender, err := s.openReceiver(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("notify.receivers[%d].url: %w", i, err)
		}
		to.Receivers = append(to.Receivers, notify.Receiver{Name: r.Name, Sender: sender, Least: doctor.Severity(r.Level), Rate: r.Rate,
			Quiet: notify.Hours{From: r.QuietFrom, Until: r.QuietUntil, Zone: r.Zone, All: r.QuietFor == config.QuietAll}})
	}
	return notify.New(s.DB, notify.Options{Prefix: s.Config.TablePrefix, Dialect: sql.Dialect(s.Config.Dialect), Settings: to, Doctor: DoctorOptions(s.Config), Log: s.Log})
}

// openReceiver opens what sends to a receiver.
func (s *Session) openReceiver(ctx context.Context, r config.Receiver) (notify.Sender, error) {
	if r.Kind == config.KindMail {
		if s.Program.Mail == nil {
			return nil, fmt.Errorf("this program was built without e-mail")
		}
		return s.Program.Mail(r.URL.Reveal(), r.Secret.Reveal(), r.From[0], r.To)
	}
	to := config.Route{URL: r.URL, Secret: r.Secret}
	send := notify.Webhook
	if r.Kind == config.KindAlertmanager {
		alerts, err := notify.AlertsURL(r.URL.Reveal())
		if err != nil {
			return nil, err
		}
		to.URL, send = value.NewSecret(alerts), notify.Alertmanager
	}
	b, err := s.openBroker(ctx, to)
	if err != nil {
		return nil, err
	}
	return send(b, secretsOf(to)...), nil
}

// longPart is from which length on a part of a URL may be a credential that a receiver repeats in an answer.
const longPart = 6

// secretsOf are what of a URL is not to be shown: its path and query, whole and in parts, and what signs.
func secretsOf(to config.Route) []string {
	all := []string{to.Secret.Reveal()}
	u, err := url.Parse(to.URL.Reveal())
	if err != nil {
		return all
	}
	for _, whole := range []string{u.Path, u.EscapedPath(), u.RawQuery} {
		for _, part := range append([]string{strings.Trim(whole, "/")}, strings.FieldsFunc(whole, func(r rune) bool { return strings.ContainsRune("/&=", r) })...) {
			if len(part) >= longPart {
				all = append(all, part)
			}
		}
	}
	return all
}

// orNever is what 0 of a configuration is to the library, where 0 is the default.
func orNever[N ~int64](n N) N {
	if n == 0 {
		return -1
	}
	return n
}

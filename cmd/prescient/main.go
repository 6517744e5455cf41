package main

import (
	_ "time/tzdata" // the time zones of schedules, for a machine or a container that has no zoneinfo of its own

	"github.com/rs/zerolog"

	"prescient/cmd"
	"prescient/prescient/api"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/cloudevents"
	"prescient/prescient/event/broker/kafka"
	"prescient/prescient/event/broker/log"
	"prescient/prescient/event/broker/nats"
	"prescient/prescient/event/broker/rabbitmq"
	"prescient/prescient/event/broker/redis"
	"prescient/prescient/event/broker/webhook"
	"prescient/prescient/longrun/wakeup"
	"prescient/prescient/notify/mail"
	"prescient/prescient/page/login"
)

func main() {
	cmd.Main(cmd.Options{
		Brokers: map[string]broker.Open{
			"log": log.Open, "http": webhook.Open, "https": webhook.Open, "nats": nats.Open, "kafka": kafka.Open, "kafka+tls": kafka.Open,
			"redis": redis.Open, "rediss": redis.Open, "amqp": rabbitmq.Open, "amqps": rabbitmq.Open, "tls": nats.Open,
		},
		WakeUps: map[string]func(url, subject string, log zerolog.Logger) (wakeup.WakeUp, func(), error){"nats": nats.OpenWakeUp, "tls": nats.OpenWakeUp},
		Mail:    mail.Open,
		Serve:   api.New,
		Page:    login.Serve,
		Formats: map[string]func(source string) (broker.Format, error){"cloudevents": cloudevents.Structured, "cloudevents-binary": cloudevents.Binary},
	})
}

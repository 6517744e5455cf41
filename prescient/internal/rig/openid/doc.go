// Package openid has a provider of OpenID Connect for tests.
package openid

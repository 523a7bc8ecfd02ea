// Gets tokens for a device as golang.org/x/oauth2 does: the request has no secret, and each poll goes out by Basic and, if
// that fails, at once again in the body. The library of Debian has no function for devices yet, so the polls are exchanges
// with another grant type, which take the same way.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"golang.org/x/oauth2"
)

type device struct {
	DeviceCode string `json:"device_code"`
	UserCode   string `json:"user_code"`
	Interval   int    `json:"interval"`
}

func main() {
	issuer, clientID := os.Args[1], os.Args[2]
	config := oauth2.Config{ClientID: clientID, Endpoint: oauth2.Endpoint{TokenURL: issuer + "/token"}}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()

	response, err := http.PostForm(issuer+"/device_authorization", url.Values{"client_id": {clientID}, "scope": {"photos:read"}})
	check(err)
	var asked device
	check(json.NewDecoder(response.Body).Decode(&asked))
	tell(map[string]any{"user_code": asked.UserCode, "status": response.StatusCode})

	interval := time.Duration(asked.Interval) * time.Second
	heard := []string{}
	token, err := poll(ctx, config, asked.DeviceCode)
	for err != nil && ctx.Err() == nil {
		code := errorCode(err)
		heard = append(heard, code)
		if code == "slow_down" {
			interval += 5 * time.Second
		} else if code != "authorization_pending" {
			break
		}
		tell(map[string]any{"heard": code})
		time.Sleep(interval)
		token, err = poll(ctx, config, asked.DeviceCode)
	}
	if err != nil {
		tell(map[string]any{"heard": heard})
		return
	}

	token.Expiry = time.Now().Add(-time.Hour)
	refreshed, err := config.TokenSource(ctx, token).Token()
	check(err)
	tell(map[string]any{"heard": heard, "first": token.AccessToken, "second": refreshed.AccessToken})
}

func poll(ctx context.Context, config oauth2.Config, code string) (*oauth2.Token, error) {
	return config.Exchange(ctx, "",
		oauth2.SetAuthURLParam("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
		oauth2.SetAuthURLParam("device_code", code))
}

func errorCode(err error) string {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return err.Error()
	}
	var body struct {
		Error string `json:"error"`
	}
	check(json.Unmarshal(refused.Body, &body))
	return body.Error
}

func tell(members map[string]any) {
	line, err := json.Marshal(members)
	check(err)
	fmt.Println(string(line))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

import { setTimeout } from 'node:timers/promises'
import { ResponseTypes } from '../authorization-endpoint/response-types'
import { type AuthorizationHttp, loginOf } from '../http/authorization-endpoint'
import { consentRenderer, errorRenderer } from '../http/consent'
import { hostWatch } from '../http/transport'
import { ConfigurationError } from '../protocol/configuration'
import { Parameters } from '../protocol/parameters'
import { steadyClock } from '../protocol/steady-clock'
import { openRequests } from '../rate-limit/open-requests'
import { restrictToken } from '../token-endpoint/restrict'
import type { ServerContext } from './context'

// Milliseconds. Clients usually redeem a code sooner. An owner who has pressed a button twice still accepts this wait.
const timeToArrive = 1000

/** Assembles the authorization endpoint; undefined for a server without the option `resourceOwner`. */
export function wireAuthorization({
  settings,
  store,
  takeCached,
  issueContext,
  requireService,
  admit,
  audit,
  requests,
}: ServerContext): AuthorizationHttp | undefined {
  const {
    issuer,
    findClient,
    extensions,
    defaultScope,
    resourceOwner,
    mount,
    authorizationPath,
    scopes,
    tlsRequired,
  } = settings
  if (resourceOwner === undefined) return undefined
  return {
    endpoint: {
      issuer,
      errorUri: settings.errorUri,
      requireService,
      responseTypes: new ResponseTypes(settings.responseTypes),
      extensions,
      defaultScope,
      findClient,
      tokenType: settings.tokenType,
      store,
      takeCached,
      openRequests: openRequests(settings.openRequestLimit, steadyClock(settings.clock)),
      letArrive: () => setTimeout(timeToArrive),
      // The parameters of the request are gone when the owner decides. Extensions keep what they need in the record.
      issueContext: (client) =>
        issueContext((granted) =>
          restrictToken(extensions, { client, parameters: Parameters.none, grantType: 'implicit' }, granted),
        ),
    },
    resourceOwner,
    skipConsent: settings.skipConsent,
    login: loginOf(settings.login),
    path: mount + authorizationPath,
    showConsent: consentRenderer(scopes, settings.consentPage, issuer),
    showError: errorRenderer(settings.errorPage, settings.errorUri),
    tlsRequired,
    watchHost: hostWatch(issuer),
    bodyDeadline: settings.bodyDeadline,
    admit: admit.authorization,
    audit,
    requests,
  }
}

/** @throws ConfigurationError always: the host calls `oauth.authorize()` without the option `resourceOwner`. */
export function withoutResourceOwner(): never {
  throw new ConfigurationError('oauth.authorize() cannot work:', [
    { path: 'resourceOwner', message: 'is missing: it must be a function that returns who is logged in.' },
  ])
}

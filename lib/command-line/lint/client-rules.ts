import { bcryptCost, costOf } from '../../client-authentication/bcrypt'
import { type Client, isBcryptHash } from '../../protocol/client'
import { isInsecure } from '../../protocol/redirect-uri'
import { isLoopback } from '../../protocol/uri'
import {
  eachClient,
  entriesWhere,
  type FindingPlace,
  type LintRule,
  optionWhen,
  type Subject,
} from './lint-rule'

const isCheap = (hash: string) => isBcryptHash(hash) && costOf(hash) < bcryptCost
const manyScopes = 3
const demandsPushedRequests = ({ path }: FindingPlace) =>
  path.endsWith('.require_pushed_authorization_requests')

export const clientRules: readonly LintRule[] = [
  {
    id: 'client-refused',
    severity: 'error',
    why: 'The server refuses this registration, so every request of the client fails.',
    cure: 'Correct the registration, or add what it needs to the options.',
    source: 'RFC 6749 2',
    places: ({ refused }) => refused.filter((place) => !demandsPushedRequests(place)),
  },
  {
    id: 'pushed-requests-off',
    severity: 'error',
    why: 'The client must push its requests, and the server, which takes none, refuses it.',
    cure: 'Add pushedAuthorizationRequests() to plugIns, or remove the member.',
    source: 'RFC 9126 6',
    places: ({ refused }) => refused.filter(demandsPushedRequests),
  },
  {
    id: 'client-secret-cheap-hash',
    severity: 'warning',
    why: 'The bcrypt cost is below 10, so a stolen digest soon gives away a chosen secret.',
    cure: 'Rotate to a secret of generateClientSecret(), or hash it again with hashClientSecret().',
    source: 'RFC 6819 5.1.4.1.3',
    places: (subject) =>
      eachClient(subject, ({ client_secret_hashes }) =>
        entriesWhere('client_secret_hashes', client_secret_hashes, isCheap),
      ),
  },
  {
    id: 'client-secret-old',
    severity: 'warning',
    why: 'An old secret still works.',
    cure: "Call dropOldClientSecrets(), or rotate-secret --finish, once events.on('oldSecretUsed') is silent.",
    source: 'good practice',
    places: (subject) =>
      eachClient(subject, ({ client_secret_hashes }) =>
        client_secret_hashes.length > 1 ? ['client_secret_hashes'] : [],
      ),
  },
  {
    id: 'client-public-secret',
    severity: 'warning',
    why: 'Everybody who has a public client has its secret.',
    cure: 'Remove the secret and rely on PKCE, or register the client as confidential.',
    source: 'RFC 8252 8.5',
    places: (subject) =>
      eachClient(subject, ({ client_type, client_secret_hashes }) =>
        client_type === 'public' && client_secret_hashes.length > 0 ? ['client_secret_hashes'] : [],
      ),
  },
  {
    id: 'client-every-scope',
    severity: 'warning',
    why: 'This client may ask for every scope.',
    cure: 'Register only the scopes that the client needs.',
    source: 'RFC 9700 2.3',
    places: (subject) =>
      eachClient(subject, ({ scope }) =>
        subject.settings.scopes.size >= manyScopes && new Set(scope).size === subject.settings.scopes.size
          ? ['scope']
          : [],
      ),
  },
  {
    id: 'refresh-token-kept-for-ever',
    severity: 'warning',
    why: 'Each use makes a stolen refresh token live longer, and no rotation shows the theft.',
    cure: 'Set lifetimes.grant, or grant_lifetime of the client.',
    source: 'RFC 9700 4.14.2',
    places: (subject) => [
      ...optionWhen(
        !subject.settings.refreshTokenRotation && subject.settings.lifetimes.grant === undefined,
        'refreshTokenRotation',
      ),
      ...eachClient(subject, ({ refresh_token_rotation, grant_lifetime }) =>
        refresh_token_rotation === false && (grant_lifetime ?? subject.settings.lifetimes.grant) === undefined
          ? ['refresh_token_rotation']
          : [],
      ),
    ],
  },
]

const isPlainHttp = (url: URL) => url.protocol === 'http:'
const ofLoopback = (uri: string) => isPlainHttp(new URL(uri)) && isLoopback(new URL(uri).hostname)
const ofLocalhost = (uri: string) => isPlainHttp(new URL(uri)) && new URL(uri).hostname === 'localhost'
const ofPrivateScheme = (uri: string) => !/^https?:/i.test(uri)
const withoutDot = (uri: string) => ofPrivateScheme(uri) && !new URL(uri).protocol.includes('.')

const uris = (client: Client, broken: (uri: string) => boolean) =>
  entriesWhere('redirect_uris', client.redirect_uris, broken)
const confidentialUris = (client: Client, broken: (uri: string) => boolean) =>
  client.client_type === 'confidential' ? uris(client, broken) : []

const keepsRefreshTokens = (
  { settings }: Subject,
  { grant_types, refresh_token_rotation = settings.refreshTokenRotation }: Client,
) => !refresh_token_rotation && grant_types.includes('refresh_token')

export const redirectionRules: readonly LintRule[] = [
  {
    id: 'redirect-uri-http',
    severity: 'error',
    why: 'The code crosses the network in the clear.',
    cure: 'Register the https URI and remove insecure_redirect_uris.',
    source: 'RFC 9700 2.6',
    places: (subject) => eachClient(subject, (client) => uris(client, isInsecure)),
  },
  {
    id: 'redirect-uri-dynamic-query',
    severity: 'error',
    why: 'Each request chooses the query of the redirection URI.',
    cure: 'Register complete URIs, put the varying part into state, and remove dynamic_redirect_query.',
    source: 'RFC 9700 2.1',
    places: (subject) =>
      eachClient(subject, (client) => (client.dynamic_redirect_query ? ['dynamic_redirect_query'] : [])),
  },
  {
    id: 'redirect-uri-localhost',
    severity: 'warning',
    why: 'The name localhost may resolve to another address, and a firewall may block it.',
    cure: 'Register http://127.0.0.1 and http://[::1].',
    source: 'RFC 8252 8.3',
    places: (subject) => eachClient(subject, (client) => uris(client, ofLocalhost)),
  },
  {
    id: 'redirect-uri-scheme-without-dot',
    severity: 'warning',
    why: 'Another application may claim a scheme that is no domain name, and get the code.',
    cure: 'Register a scheme such as com.example.app, or better a claimed https URI.',
    source: 'RFC 8252 8.4',
    places: (subject) => eachClient(subject, (client) => uris(client, withoutDot)),
  },
  {
    id: 'confidential-loopback-uri',
    severity: 'warning',
    why: 'A client on the device of its user keeps no secret.',
    cure: 'Register a native app as public, and remove the loopback URIs of developers.',
    source: 'RFC 8252 8.5',
    places: (subject) => eachClient(subject, (client) => confidentialUris(client, ofLoopback)),
  },
  {
    id: 'confidential-private-scheme',
    severity: 'warning',
    why: 'An app on the device of its user keeps no secret.',
    cure: 'Register the app as public, and its web server as another client.',
    source: 'RFC 8252 8.5',
    places: (subject) => eachClient(subject, (client) => confidentialUris(client, ofPrivateScheme)),
  },
  {
    id: 'refresh-token-kept-on-device',
    severity: 'error',
    why: 'An app on the device of its user keeps no secret, and a copied refresh token works unnoticed.',
    cure: 'Register the app as public, or with refresh_token_rotation: true.',
    source: 'RFC 9700 2.2.2',
    places: (subject) =>
      eachClient(subject, (client) =>
        keepsRefreshTokens(subject, client)
          ? confidentialUris(client, (uri) => ofLoopback(uri) || ofPrivateScheme(uri))
          : [],
      ),
  },
  {
    id: 'redirect-uri-shared',
    severity: 'warning',
    why: 'One client can get the response for another.',
    cure: 'Give each client a URI of its own.',
    source: 'good practice',
    places: (subject) => {
      const owners = new Map<string, Set<string>>()
      for (const { client } of subject.clients)
        for (const uri of client.redirect_uris)
          owners.set(uri, new Set([...(owners.get(uri) ?? []), client.client_id]))
      return eachClient(subject, (client) => uris(client, (uri) => (owners.get(uri)?.size ?? 0) > 1))
    },
  },
]

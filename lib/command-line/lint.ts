import table from './lint-rules.json'
import type { Lifetimes } from '../authorization/lifetimes'
import { bcryptCost, costOf } from '../client-authentication/bcrypt'
import type { AuthorizationServerOptions } from '../config/options'
import { resolveOptions, type ServerSettings } from '../config/resolve-options'
import { ConfigurationError, type ConfigurationIssue } from '../primitives/configuration-error'
import { isList, isRecord } from '../primitives/values'
import { type Client, isBcryptHash } from '../protocol/client'
import { parseClient } from '../protocol/parse-client'
import { isInsecure } from '../protocol/redirect-uri'
import { isLoopback } from '../protocol/uri'
import { withinDeadline } from '../store/deadline'
import { isInMemory } from '../store/store'
import { isClientRegistry, isDeleted, registeredClients } from '../stores/clients'

interface Subject {
  readonly settings: ServerSettings
  // With paths such as `clients[0]`, or `clients["album"]` of a store.
  readonly clients: readonly { readonly client: Client; readonly path: string }[]
  readonly refused: readonly FindingPlace[]
  readonly unseenClients?: string
}

// Types and no interfaces, which are no records.
type FindingPlace = {
  readonly path: string
  readonly client?: string
  readonly why?: string
}

// Asks a store only for the list of clients, for at most 10 seconds.
export async function subjectOf(options: unknown): Promise<Subject> {
  if (!isOptions(options))
    throw new ConfigurationError('The configuration cannot be checked:', [
      { path: 'options', message: 'must be an object, or a function that returns one.' },
    ])
  const settings = resolveOptions(options)
  const none = { settings, clients: [], refused: [] }
  if (settings.registered === undefined) return none
  const { clients: given, path } = settings.registered
  if (isList(given)) return subjectWith(settings, given, (index) => `${path}[${index}]`)
  if (!isClientRegistry(given))
    return { ...none, unseenClients: 'only registeredClients(store) lists its clients.' }
  try {
    const list = await withinDeadline(() => registeredClients(given.store).list(), patience)
    const living = list.filter((registration) => !isDeleted(registration))
    return subjectWith(settings, living, (_, id) => `${path}[${JSON.stringify(id)}]`)
  } catch {
    return { ...none, unseenClients: 'the store of clients does not answer.' }
  }
}

const isOptions = (value: unknown): value is AuthorizationServerOptions => isRecord(value)
const patience = 10

function subjectWith(
  settings: ServerSettings,
  sources: readonly unknown[],
  pathOf: (index: number, id: string) => string,
): Subject {
  const read = sources.map((source, index) => {
    const id = isRecord(source) ? String(source['client_id']) : ''
    const path = pathOf(index, id)
    const issues: ConfigurationIssue[] = []
    const client = parseClient(source, path, issues, settings.capabilities)
    const refusals = issues.map(({ path: at, message }) => {
      return { path: at, client: id, why: `The server refuses this registration. This member ${message}` }
    })
    return { path, client, refusals }
  })
  const enabled = read.filter(({ client }) => !client.disabled)
  const clients = enabled.filter(({ refusals }) => refusals.length === 0)
  return { settings, clients, refused: enabled.flatMap(({ refusals }) => refusals) }
}

type Places = (subject: Subject) => readonly FindingPlace[]

const options =
  (pathsOf: (settings: ServerSettings, subject: Subject) => readonly string[]): Places =>
  (subject) =>
    pathsOf(subject.settings, subject).map((path) => ({ path }))

const option = (path: string, isRisky: (settings: ServerSettings, subject: Subject) => boolean) =>
  options((settings, subject) => (isRisky(settings, subject) ? [path] : []))

const lifetime = (name: Exclude<keyof Lifetimes, 'grant'>, over: number, most = Infinity): Places =>
  option(`lifetimes.${name}`, ({ lifetimes }) => lifetimes[name] > over && lifetimes[name] <= most)

const ofClients =
  (membersOf: (client: Client, subject: Subject) => readonly string[]): Places =>
  (subject) =>
    subject.clients.flatMap(({ client, path }) =>
      membersOf(client, subject).map((each) => ({ path: `${path}.${each}`, client: client.client_id })),
    )

const member = (name: keyof Client, isRisky: (client: Client, settings: ServerSettings) => boolean) =>
  ofClients((client, { settings }) => (isRisky(client, settings) ? [name] : []))

type Lists = 'redirect_uris' | 'grant_types' | 'response_types' | 'client_secret_hashes'

const entries = (name: Lists, isRisky: (entry: string, client: Client, subject: Subject) => boolean) =>
  ofClients((client, subject) => risky(name, client[name], (entry) => isRisky(entry, client, subject)))

const risky = (path: string, list: readonly string[], isRisky: (entry: string) => boolean) =>
  list.flatMap((entry, index) => (isRisky(entry) ? [`${path}[${index}]`] : []))

const responseTypes = options(({ plugins }) =>
  plugins.sources.flatMap(({ at }) => {
    const given = at.source['responseTypes']
    const names = isList(given) ? given.map((type) => (isRecord(type) ? String(type['name']) : '')) : []
    return risky(at.at('responseTypes'), names, bringsToken)
  }),
)

const ofPlugins = (named: string): Places =>
  options(({ plugins }) => plugins.risks.filter(({ rule }) => rule === named).map(({ path }) => path))

const year = 365 * 24 * 3600
const day = 24 * 3600
const hour = 3600

const bringsToken = (responseType: string) => responseType.split(' ').includes('token')
const isPassword = (grantType: string) => grantType === 'password'
const isOpen = ({ dynamicRegistration }: ServerSettings) =>
  dynamicRegistration !== undefined && dynamicRegistration.verifyInitialAccessToken === undefined
const isEvery = (scope: readonly string[] | undefined, { scopes }: ServerSettings, atLeast = 2) =>
  scopes.size >= atLeast && new Set(scope).size === scopes.size
const isConfidential = ({ client_type }: Client) => client_type === 'confidential'

const ofHttp = (uri: string) => new URL(uri).protocol === 'http:'
const ofLoopback = (uri: string) => ofHttp(uri) && isLoopback(new URL(uri).hostname)
const ofLocalhost = (uri: string) => ofHttp(uri) && new URL(uri).hostname === 'localhost'
const ofPrivateScheme = (uri: string) => !/^https?:/i.test(uri)
const ofShortScheme = (uri: string) => ofPrivateScheme(uri) && !new URL(uri).protocol.includes('.')

const ofConfidential = (isRisky: (uri: string) => boolean): Places =>
  entries('redirect_uris', (uri, client) => isConfidential(client) && isRisky(uri))

const demandsPushedRequests = ({ path }: FindingPlace) =>
  path.endsWith('.require_pushed_authorization_requests')

const off = (path: string, limits: object, names: readonly string[]) =>
  names.filter((name) => Reflect.get(limits, name) === undefined).map((name) => `${path}.${name}`)

function shared(subject: Subject): readonly FindingPlace[] {
  const [once, more] = [new Set<string>(), new Set<string>()]
  for (const { client } of subject.clients)
    for (const uri of new Set(client.redirect_uris)) (once.has(uri) ? more : once).add(uri)
  return entries('redirect_uris', (uri) => more.has(uri))(subject)
}

const places: Readonly<Record<keyof typeof table, Places>> = {
  'issuer-http': option('issuer', ({ tlsRequired }) => !tlsRequired),
  'pkce-off': option('pkce', ({ pkce }) => pkce === 'none'),
  'pkce-public-only': option(
    'pkce',
    ({ pkce }, { clients }) =>
      pkce === 'public' &&
      clients.some(
        ({ client }) => isConfidential(client) && client.grant_types.includes('authorization_code'),
      ),
  ),
  'default-scope-everything': option('defaultScope', (settings) => isEvery(settings.defaultScope, settings)),
  'memory-store': option('store', ({ store }) => isInMemory(store)),
  // The rule memory-store is enough.
  'memory-counters': option('counters', ({ store, counters }) => isInMemory(counters) && !isInMemory(store)),
  'memory-clients': option('clients', ({ clientRegistry }) => isInMemory(clientRegistry?.store)),
  'dpop-nonce-secret': ofPlugins('dpop-nonce-secret'),
  'registration-open': option('dynamicRegistration', isOpen),
  'registration-every-scope': option('dynamicRegistration.scope', (settings) =>
    isEvery(settings.dynamicRegistration?.scope, settings),
  ),
  'skip-consent-resources': option(
    'skipConsent',
    ({ skipConsent, resources }) => skipConsent !== undefined && (resources?.all.length ?? 0) > 1,
  ),
  'remember-consent-no-end': option(
    'rememberConsent',
    ({ rememberConsent, authorizations }) => rememberConsent !== undefined && !authorizations,
  ),
  'remember-consent-long': option(
    'rememberConsent.seconds',
    ({ rememberConsent }) => rememberConsent !== undefined && rememberConsent.seconds > year,
  ),
  'access-token-over-an-hour': lifetime('accessToken', hour, day),
  'access-token-over-a-day': lifetime('accessToken', day),
  'code-lifetime': lifetime('authorizationCode', 60),
  'refresh-token-lifetime': lifetime('refreshToken', 90 * day),
  'refresh-grace': lifetime('refreshTokenGrace', 60),
  'authorization-request-lifetime': lifetime('authorizationRequest', 1800),
  'store-deadline': option('storeDeadline', ({ storeDeadline }) => storeDeadline > 5),
  'client-guesses-unlimited': option('limits.clientAuthentication', ({ limits }) =>
    Object.values(limits.clientAuthentication).every((limit) => limit === undefined),
  ),
  'rate-limit-off': options((settings) =>
    off('limits.networks', settings.limits.networks, [
      'authorization',
      'clients',
      ...(isOpen(settings) ? ['registration'] : []),
    ]),
  ),
  'open-requests-unlimited': option('limits.openRequests', ({ limits }) => limits.openRequests === undefined),
  'issuing-unlimited': options(({ limits }) => off('limits.issuing', limits.issuing, ['client', 'owner'])),
  'single-uses-unlimited': option('limits.singleUses', ({ limits }) => limits.singleUses === undefined),
  'body-deadline': option('bodyDeadline', ({ bodyDeadline }) => bodyDeadline > 30),
  'implicit-grant': responseTypes,
  'client-implicit-grant': entries('response_types', bringsToken),
  'password-grant': ofPlugins('password-grant'),
  'client-password-grant': entries('grant_types', isPassword),
  'password-limit-off': ofPlugins('password-limit-off'),
  'password-unlimited': ofPlugins('password-unlimited'),
  'redirect-uri-http': entries('redirect_uris', isInsecure),
  'redirect-uri-dynamic-query': member('dynamic_redirect_query', (client) => client.dynamic_redirect_query),
  'redirect-uri-localhost': entries('redirect_uris', ofLocalhost),
  'redirect-uri-scheme-without-dot': entries('redirect_uris', ofShortScheme),
  'confidential-loopback-uri': ofConfidential(ofLoopback),
  'confidential-private-scheme': ofConfidential(ofPrivateScheme),
  'refresh-token-kept-on-device': entries(
    'redirect_uris',
    (uri, client, { settings }) =>
      isConfidential(client) &&
      !(client.refresh_token_rotation ?? settings.refreshTokenRotation) &&
      client.grant_types.includes('refresh_token') &&
      (ofLoopback(uri) || ofPrivateScheme(uri)),
  ),
  'redirect-uri-shared': shared,
  'client-refused': ({ refused }) => refused.filter((place) => !demandsPushedRequests(place)),
  'pushed-requests-off': ({ refused }) => refused.filter(demandsPushedRequests),
  'client-secret-cheap-hash': entries(
    'client_secret_hashes',
    (hash) => isBcryptHash(hash) && costOf(hash) < bcryptCost,
  ),
  'client-secret-old': member('client_secret_hashes', (client) => client.client_secret_hashes.length > 1),
  'client-public-secret': member(
    'client_secret_hashes',
    (client) => !isConfidential(client) && client.client_secret_hashes.length > 0,
  ),
  'client-every-scope': member('scope', ({ scope }, settings) => isEvery(scope, settings, 3)),
  'refresh-token-kept-for-ever': (subject) => [
    ...option(
      'refreshTokenRotation',
      ({ refreshTokenRotation, lifetimes }) => !refreshTokenRotation && lifetimes.grant === undefined,
    )(subject),
    ...member(
      'refresh_token_rotation',
      ({ refresh_token_rotation, grant_lifetime }, { lifetimes }) =>
        refresh_token_rotation === false && (grant_lifetime ?? lifetimes.grant) === undefined,
    )(subject),
  ],
}
const placesByRule: ReadonlyMap<string, Places> = new Map(Object.entries(places))

type LintRule = {
  // Stable: scripts may rely on it, and `--allow` takes it.
  readonly rule: string
  // `error`: a specification says MUST, or anybody can misuse the server.
  readonly severity: 'error' | 'warning'
  readonly why: string
  readonly cure: string
  readonly source: string
}

export type Finding = LintRule & FindingPlace

export const rules: readonly LintRule[] = Object.entries(table).map(([rule, row]) => {
  const { severity, why, cure, source } = row
  return { rule, severity: severity === 'error' ? 'error' : 'warning', why, cure, source }
})

export function lint(subject: Subject, allowed: readonly string[] = []): readonly Finding[] {
  const findings: Finding[] = []
  for (const about of rules)
    if (!allowed.includes(about.rule))
      for (const place of placesByRule.get(about.rule)?.(subject) ?? []) findings.push({ ...about, ...place })
  return findings.toSorted((one, other) => one.severity.localeCompare(other.severity))
}

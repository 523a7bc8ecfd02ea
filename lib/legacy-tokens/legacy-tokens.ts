import { isRegExp } from 'node:util/types'
import { type Active, idOfUse } from '../authorization/authorization'
import { ClientMarks } from '../authorization/client-marks'
import type { GrantResult, TokenRequest } from '../authorization/grant-type'
import { activeOf, type Issued } from '../authorization/issue'
import { issuerDigest } from '../authorization/issuer'
import { entryName } from '../authorization/owner-entries'
import { isRevoked, namesIn, Owners } from '../authorization/owners'
import { rotateRefreshToken } from '../authorization/redeem'
import type { Transition } from '../authorization/transition'
import type { Plugin, PluginServer } from '../doors/plug-in'
import { resourceIndicatorsName } from '../extensions/resource-indicators/resource-indicators'
import { inTime } from '../primitives/clock'
import { aCall, aText, someTexts } from '../primitives/fields'
import {
  exactShape,
  type Fields,
  kind,
  needed,
  optional,
  type Place,
  type Read,
  readOptions,
  requireShape,
} from '../primitives/schema'
import { isWhole, requireBoolean, tenYears } from '../primitives/values'
import { type AccessTokenReader, mayBeFormatted } from '../protocol/access-token-format'
import { createTagKey, digest } from '../protocol/credential'
import type { ExtensionData } from '../protocol/extension-data'
import type { ClientRequest } from '../protocol/extension'
import { refused } from '../protocol/refusals'
import { isSubject, subjectExpectation } from '../protocol/resource-owner'
import { isScope, type Scope, scopeExpectation } from '../protocol/scope'
import { RefreshFromElsewhere } from '../token-endpoint/grant-types/built-in'

/** A token of the other server. */
export interface LegacyToken {
  /** The client that got it, under its identifier here. */
  readonly clientId: string
  /** Omit it if the client acts for itself; undefined is a mistake, as of a failed look-up. */
  readonly subject?: string
  readonly scope: Scope
  /** Whole seconds since the epoch. */
  readonly expiresAt: number
  /**
   * When the owner approved, in whole seconds since the epoch: a revocation here ends what was granted before
   * it, and `lifetimes.grant` counts from here. Default: unknown; then every revocation of the owner or the
   * client counts, and `lifetimes.grant` begins with the move.
   */
  readonly grantedAt?: number
  /** URIs of the option `resources`. Default: the default resource. */
  readonly resources?: readonly string[]
}

export type LegacyTokenKind = 'access_token' | 'refresh_token'

type Find = (token: string) => LegacyToken | undefined | Promise<LegacyToken | undefined>
type Revoke = (token: string, kind: LegacyTokenKind) => unknown
type Form = RegExp | ((text: string) => boolean)

/**
 * Options of {@link legacyTokens}. If a function throws, or returns neither a token nor undefined, the
 * request gets `temporarily_unavailable`, and the event `failure` names the mistake.
 */
export interface LegacyTokensOptions {
  /**
   * The form of the tokens: an expression for the whole text, such as `/[0-9a-f]{40}/`, or a function. The
   * functions below get such texts alone, of at most 8192 letters, digits and `-._~+/=`, and no tokens of
   * this server.
   */
  readonly form: Form
  /**
   * The last second for which tokens of the other server count, since the epoch: at most twice the longest of
   * `lifetimes.refreshToken` and `lifetimes.accessToken` from now, because a revocation is remembered for so
   * long. Do not move it later.
   */
  readonly until: number
  /** Finds an access token; undefined if unknown. Asked for each request to a guard. */
  readonly findAccess: Find
  /** Finds a refresh token; undefined if unknown. */
  readonly findRefresh: Find
  /**
   * Ends a token at the revocation endpoint, for its client. Default: tokens of the other server that no
   * refresh has moved stay good until their end.
   */
  readonly revoke?: Revoke
}

const name = 'legacy-tokens'

/**
 * Takes the live tokens of the server from which a host moves, so that the move logs nobody out. Guards on
 * the store and introspection accept its access tokens until they end. The first refresh with one of its
 * refresh tokens moves the grant: the client gets tokens of this server. Of any number of parallel moves, one
 * wins. Within `lifetimes.refreshTokenGrace` the old token gets the same answer; later it ends the grant (RFC
 * 9700 4.14.2).
 *
 * A token of a moved grant is `bearer` unless the registration or a plug-in says otherwise. It has no ID
 * token before the next login.
 *
 * @throws ConfigurationError that lists every mistake.
 */
export function legacyTokens(options: LegacyTokensOptions): Plugin {
  const terms = readOptions('legacyTokens()', fields, options)
  return {
    name,
    open(server) {
      const { refreshToken, accessToken } = server.context().lifetimes
      const longest = 2 * Math.max(refreshToken, accessToken)
      // A revocation is remembered for so long.
      if (terms.until > server.now() + longest)
        throw new Error(
          `has until later than ${longest} seconds from now, twice the longest of the lifetimes: choose an earlier one, in seconds, not in milliseconds.`,
        )
      const tokens = new LegacyTokens(terms, server)
      return {
        accessTokenFormats: [{ ...tokens.reader, issues: false, encode: writesNone }],
        grantTypes: [new RefreshFromElsewhere((request) => move(tokens, server, request))],
        prepare: (request) => tokens.revoke(request),
      }
    },
    openInGuard({ issuer, now, storage }) {
      if (storage === undefined) throw new Error('needs the option store of the guard.')
      return { accessTokenFormats: [new LegacyTokens(terms, { issuer, now, storage }).reader] }
    },
  }
}

const writesNone = () => Promise.reject(new Error('Only the other server writes such tokens.'))

const isForm = (value: unknown): value is Form => isRegExp(value) || typeof value === 'function'
const aForm = kind(isForm, 'must be a regular expression of the whole token, or a function.')

/** Of the whole text, without a state. */
function testOf({ source, flags }: RegExp): (text: string) => boolean {
  const whole = new RegExp(`^(?:${source})$`, flags.replace(/[gmy]/g, ''))
  return (text) => whole.test(text)
}

const cure = 'must be a function that takes a token.'

const fields = {
  form: (given: unknown, at: Place, member: string) => {
    const form = aForm(given, at, member) ?? /$^/
    return isRegExp(form) ? testOf(form) : form
  },
  until: needed(0, kind(isWhole(1, Infinity), 'must be whole seconds since the epoch.')),
  findAccess: needed<Find>(() => undefined, aCall(cure)),
  findRefresh: needed<Find>(() => undefined, aCall(cure)),
  revoke: optional(aCall<Revoke>(cure)),
} satisfies Fields<LegacyTokensOptions>

type LegacyTerms = Read<typeof fields>

const aSubject = kind(isSubject, `${subjectExpectation} If the client acts for itself, omit the member.`)
const timeUntil = (ahead: number, what: string) =>
  kind<number, number>(
    (value, now): value is number => isWhole(0, now + ahead)(value),
    `must be whole seconds since the epoch, ${what}.`,
  )

/** The context: seconds since the epoch. */
const legacyToken = exactShape<LegacyToken, number>({
  clientId: aText,
  subject: (given, at, member) => (member in at.source ? aSubject(given, at, member) : undefined),
  scope: kind(isScope, scopeExpectation),
  expiresAt: timeUntil(tenYears, 'at most ten years from now'),
  grantedAt: optional(timeUntil(300, 'in the past')),
  resources: optional(someTexts),
})

type Verb = 'findAccess' | 'findRefresh'

class LegacyTokens {
  private readonly owners: Owners
  private readonly marks: ClientMarks

  constructor(
    private readonly terms: LegacyTerms,
    private readonly guard: Pick<PluginServer, 'issuer' | 'now' | 'storage'>,
  ) {
    const { issuer, now, storage: store } = guard
    const ownDigest = issuerDigest(issuer)
    this.owners = new Owners(store, ownDigest, now, 0)
    this.marks = new ClientMarks({ store, issuerDigest: ownDigest, clock: () => now() * 1000 })
  }

  readonly reader: AccessTokenReader = {
    name,
    decode: async (text) => ((await this.mayHold(text)) ? this.referenceTo(text) : undefined),
    find: async (text) => {
      const token = (await this.mayHold(text)) ? await this.find('findAccess', text) : undefined
      if (token === undefined) return undefined
      const { clientId, subject, scope, expiresAt } = token
      const access = { clientId, subject, scope, expiresAt, login: undefined, isPlain: true }
      return { ...this.referenceTo(text), ...access, tokenExtensionData: resourcesOf(token) }
    },
  }

  async mayHold(text: string): Promise<boolean> {
    return mayBeFormatted(text) && asked('form', text, async () => requireAnswer(this.terms.form(text)))
  }

  /** Of any number of moves, one creates the record of this name. */
  referenceTo(text: string) {
    return { authorizationId: idOfUse([this.guard.issuer, name, text]), tokenId: digest(text) }
  }

  /** Undefined also for what was revoked here before it came. */
  async find(verb: Verb, text: string) {
    const found = await this.ask(verb, text)
    if (found === undefined) return undefined
    const { clientId, subject, expiresAt, grantedAt = 0 } = found
    const [mark, owner] = await Promise.all([
      this.marks.read(clientId),
      subject === undefined ? undefined : this.owners.read(subject),
    ])
    if (grantedAt <= mark || (owner !== undefined && isRevoked(owner, grantedAt))) return undefined
    const names: ExtensionData = owner === undefined ? {} : { [entryName]: namesIn(owner) }
    const { until } = this.terms
    // Then no process takes the token any more.
    const usedUntil = until + clocksApart
    return { ...found, expiresAt: Math.min(expiresAt, until), usedUntil, names }
  }

  /** RFC 7009 2.1. The endpoint then ends what this server has of the grant. */
  async revoke({ endpoint, client, parameters }: ClientRequest): Promise<undefined> {
    const { revoke } = this.terms
    const text = endpoint === 'revocation' ? parameters.get('token') : undefined
    if (text === undefined || revoke === undefined || !(await this.mayHold(text))) return
    for (const [verb, tokenKind] of kinds)
      if ((await this.ask(verb, text))?.clientId === client.client_id)
        await asked('revoke', text, async () => revoke(text, tokenKind))
  }

  private ask(verb: Verb, text: string): Promise<LegacyToken | undefined> {
    return asked(verb, text, async () => {
      const found: unknown = await this.terms[verb](text)
      return found === undefined
        ? undefined
        : requireShape(legacyToken, found, 'The token is wrong:', this.guard.now())
    })
  }
}

/** Seconds. */
const clocksApart = 300

const kinds = [
  ['findRefresh', 'refresh_token'],
  ['findAccess', 'access_token'],
] as const

/** The other server may still know the token: its client must not lose it. */
function asked<Answer>(option: keyof LegacyTerms, text: string, ask: () => Promise<Answer>): Promise<Answer> {
  // A message of a database may quote the token.
  const failure = (what: string) => {
    const cause = new Error(`${option} of legacyTokens() failed: ${what.replaceAll(text, 'the token')}`)
    return refused('legacy_lookup_failed', {}, { cause })
  }
  const late = () => failure('no answer came within 10 seconds')
  return inTime(ask, { seconds: 10, late, failed: (thrown) => failure(wordsOf(thrown)) })
}

const wordsOf = (thrown: unknown) =>
  thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : 'it threw no error'

const requireAnswer = (answer: unknown) => requireBoolean(answer, 'It')

const resourcesOf = ({ resources }: LegacyToken): ExtensionData =>
  resources === undefined ? {} : { [resourceIndicatorsName]: resources }

async function move(
  tokens: LegacyTokens,
  server: PluginServer,
  { client, parameters, context }: TokenRequest,
): Promise<GrantResult | undefined> {
  const text = parameters.require('refresh_token')
  if (!(await tokens.mayHold(text))) return undefined
  const { authorizationId } = tokens.referenceTo(text)
  // A repetition asks no host, which may have forgotten the token.
  const isMoved = (await server.find(authorizationId)) !== undefined
  const before = isMoved ? undefined : await grantOf(tokens, text, client.token_type, context)
  const refresh = { refreshToken: text, clientId: client.client_id, scope: parameters.get('scope') }
  const rotating = { ...context, keepsRefreshToken: undefined }
  let first: Active | undefined
  const transition: Transition<Issued> = (current, superseded) => {
    if (current === undefined) first = before
    // Not moved yet when this request first read the record: slow, not stolen.
    return rotateRefreshToken(current ?? before, refresh, rotating, first ?? superseded)
  }
  return { authorizationId, transition }
}

/** As if this server had issued the refresh token. */
async function grantOf(
  tokens: LegacyTokens,
  text: string,
  tokenType = 'bearer',
  { issuerDigest: ownDigest, now, random }: TokenRequest['context'],
): Promise<Active> {
  const found = await tokens.find('findRefresh', text)
  if (found === undefined) throw refused('refresh_token_unknown')
  const { clientId, subject, scope, expiresAt, usedUntil, grantedAt = now } = found
  const { authorizationId: id, tokenId: spentCode } = tokens.referenceTo(text)
  const extensionData = { ...resourcesOf(found), ...found.names }
  const grant = { id, issuerDigest: ownDigest, clientId, subject, scope, tokenType, extensionData }
  return {
    ...activeOf(grant, Math.min(grantedAt, now), { spentCode, usedUntil }),
    refreshToken: { digest: spentCode, generation: -1, tagKey: createTagKey(random), expiresAt },
  }
}

import type { Authorization } from '../../authorization/authorization'
import { ownerName } from '../../authorization/owners'
import { aText } from '../../primitives/fields'
import { kind, optional, rows, shape } from '../../primitives/schema'
import { isRecord } from '../../primitives/values'
import type { ClientRegistration } from '../../protocol/client'
import { createId, digest, secureRandom } from '../../protocol/credential'
import { refused } from '../../protocol/refusals'
import type { Store } from '../../store/store'
import { aRegistration, ClientRecords } from '../../stores/clients'
import { isUse } from '../../stores/records'
import { withDisabled } from '../registrations'

const prefix = 'dynamic_'
const form = /^dynamic_(?:[A-Za-z0-9_-]{43}|[A-Za-z0-9_-]{22})$/

export const isDynamicClientId = (clientId: string): boolean => form.test(clientId)

// `metadata` has one order and no repetitions: an app that registers at each start stays one client.
export const publicClientId = (issuer: string, metadata: object): string =>
  prefix + digest(JSON.stringify([issuer, metadata], inOrder))

const inOrder = (_name: string, value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).toSorted(byName)) : value

const byName = ([one]: [string, unknown], [other]: [string, unknown]) => (one < other ? -1 : 1)

export const confidentialClientId = (): string => prefix + createId(secureRandom)

// RFC 7591. Times are seconds since the epoch.
export interface DynamicClient {
  // At most two `client_secret_hashes`, the current one last.
  readonly registration: ClientRegistration
  readonly issuedAt: number
  // In the order of `client_secret_hashes`.
  readonly secretExpiries: readonly number[]
  // RFC 7592 3; none for a public client.
  readonly registrationTokenDigest?: string | undefined
  readonly issuerDigest: string
  // The most seconds that a code or token lives.
  readonly tokenLifetime: number
}

interface KeptClient extends DynamicClient {
  readonly until: number
  // Without authorization requests; undefined once an owner has approved one.
  readonly unusedUntil?: number | undefined
  // The owner, if all codes and tokens were for one.
  readonly usedBy?: string | undefined
  // Anybody may register a removed public client again.
  readonly isRemoved?: true | undefined
}

export const day = 24 * 3600

// Seconds.
interface UseLifetimes {
  // At least two days longer than every token: a note may be a day old, and clocks differ.
  readonly lifetime: number
  readonly requestLifetime: number
}

export class DynamicClientRecords {
  private readonly records: ClientRecords<KeptClient>

  constructor(
    private readonly store: Store,
    // Seconds since the epoch.
    private readonly now: () => number,
    // Default: every issuer.
    private readonly issuerDigest?: string,
  ) {
    this.records = new ClientRecords(store, 'themselves', kept)
  }

  async find(clientId: string): Promise<DynamicClient | undefined> {
    return this.live(await this.records.find(clientId))
  }

  // Known clients live for `lifetime` again once half of it is over. `maximum` counts new and prolonged ones.
  async add(client: DynamicClient, lifetime: number, maximum: number): Promise<DynamicClient> {
    const { client_id } = client.registration
    const isYoung = (known: KeptClient) => known.until - this.now() > lifetime / 2
    const found = this.live(await this.records.find(client_id))
    const isCounted = found === undefined || !isYoung(found)
    const hasRoom = !isCounted || (await this.count(lifetime, maximum))
    const { added, isNew } = await this.change(client_id, (known) => {
      if (known?.registration.disabled === true) throw refused('client_metadata_disabled')
      if (known === undefined && !hasRoom) throw refused('registrations_full')
      if (known !== undefined && (isYoung(known) || !hasRoom))
        return { outcome: { added: known, isNew: false } }
      const until = this.now() + lifetime
      const next = { ...(known ?? client), until, unusedUntil: until }
      return { next, outcome: { added: next, isNew: true } }
    })
    // Another process was faster.
    if (isCounted && hasRoom && !isNew) await this.store.add(countName, -1, lifetime)
    return added
  }

  // `change` must be pure. A disabled client stays so for as long as its tokens live.
  update(
    clientId: string,
    change: (client: DynamicClient) => DynamicClient,
  ): Promise<DynamicClient | undefined> {
    return this.change<DynamicClient | undefined>(clientId, (known) => {
      if (known === undefined) return { outcome: undefined }
      const next = change(known)
      if (next === known) return { outcome: known }
      const least = next.registration.disabled === true ? next.tokenLifetime : 0
      return { next: this.lasting({ ...next, until: known.until }, least, least), outcome: next }
    })
  }

  async setDisabled(clientId: string, disabled: boolean): Promise<boolean> {
    const found = await this.update(clientId, (client) => {
      const registration = withDisabled(client.registration, disabled)
      return registration === client.registration ? client : { ...client, registration }
    })
    return found !== undefined
  }

  // The caller marks the id, which ends the grants.
  async remove(clientId: string): Promise<void> {
    const known = await this.find(clientId)
    if (known === undefined) return
    // The random id of a confidential client is never used again.
    if (!isPublic(known)) return this.records.remove(clientId)
    await this.change(clientId, (client) => ({
      next: client && { ...client, isRemoved: true as const },
      outcome: undefined,
    }))
  }

  // A code or token prolongs the client, at most once a day; a request lets it wait for its owner.
  note(authorization: Authorization, { lifetime, requestLifetime }: UseLifetimes): Promise<void> | undefined {
    const { clientId } = authorization
    if (!isDynamicClientId(clientId)) return undefined
    const after = isUse(authorization)
      ? (client: KeptClient) => this.used(client, ownerOf(authorization), lifetime)
      : (client: KeptClient) => this.awaitingOwner(client, requestLifetime)
    const known = this.live(this.records.known(clientId))
    if (known !== undefined && after(known) === known) return undefined
    return this.change(clientId, (client) => ({ next: client && after(client), outcome: undefined }))
  }

  private used(client: KeptClient, owner: string, lifetime: number): KeptClient {
    const next = this.lasting(client, lifetime, lifetime - day)
    const usedBy = client.unusedUntil !== undefined || client.usedBy === owner ? owner : ''
    return next.unusedUntil === undefined && next.usedBy === usedBy ? next : { ...withoutEnd(next), usedBy }
  }

  // Without another owner, the client ends as an unused one.
  async leave(clientId: string, owner: string, unusedLifetime: number): Promise<void> {
    if (!isDynamicClientId(clientId)) return
    await this.change(clientId, (known) => {
      if (known?.usedBy !== owner) return { outcome: undefined }
      const until = Math.min(known.until, this.now() + unusedLifetime)
      return { next: { ...known, until, unusedUntil: until }, outcome: undefined }
    })
  }

  // Strangers send requests: all together prolong an unused client by `seconds`.
  private awaitingOwner(client: KeptClient, seconds: number): KeptClient {
    const until = Math.min(this.now(), client.unusedUntil ?? Infinity) + seconds
    return until > client.until ? { ...client, until } : client
  }

  private async count(seconds: number, maximum: number): Promise<boolean> {
    const { count } = await this.store.add(countName, 1, seconds)
    if (count <= maximum) return true
    await this.store.add(countName, -1, seconds)
    return false
  }

  private lasting(client: KeptClient, lifetime: number, unlessLeft: number): KeptClient {
    const now = this.now()
    return client.until - now < unlessLeft ? { ...client, until: now + lifetime } : client
  }

  private change<Outcome>(
    clientId: string,
    decide: (known: KeptClient | undefined) => {
      readonly next?: KeptClient | undefined
      readonly outcome: Outcome
    },
  ): Promise<Outcome> {
    return this.records.change(clientId, (client, isOfHost) => {
      const known = this.live(client)
      const { next, outcome } = decide(known)
      if (next === undefined || next === known) return { outcome }
      // The host has registered it meanwhile.
      if (isOfHost) throw refused('client_metadata_disabled')
      return { next, seconds: Math.max(1, next.until - this.now()), outcome }
    })
  }

  private live(client: KeptClient | undefined): KeptClient | undefined {
    if (client === undefined || client.isRemoved === true || client.until <= this.now()) return undefined
    return (this.issuerDigest ?? client.issuerDigest) === client.issuerDigest ? client : undefined
  }
}

// Empty for a client that acts for itself.
const ownerOf = ({ issuerDigest, subject }: Authorization): string =>
  subject === undefined ? '' : ownerName(issuerDigest, subject)

const withoutEnd = ({ unusedUntil: _end, ...client }: KeptClient): KeptClient => client

const countName = 'registrations'

const isPublic = ({ registrationTokenDigest }: DynamicClient): boolean =>
  registrationTokenDigest === undefined

const aCount = kind(Number.isSafeInteger, 'must be whole seconds.')
const aTime = kind((value) => typeof value === 'number', 'must be seconds.')
const kept = shape<KeptClient>({
  registration: aRegistration,
  issuedAt: aCount,
  secretExpiries: rows(aCount, 'seconds'),
  registrationTokenDigest: optional(aText),
  issuerDigest: aText,
  tokenLifetime: aCount,
  until: aTime,
  unusedUntil: optional(aTime),
  usedBy: optional(kind((value) => typeof value === 'string', 'must be a text.')),
  isRemoved: optional(kind((value) => value === true, 'must be true.')),
})

import type { Store } from '../store/store'
import { DynamicClientRecords } from '../clients/dynamic-registration/dynamic-clients'
import { secondsOf } from '../primitives/clock'
import { type ClientRegistry, isDeleted, registeredClients } from '../stores/clients'
import { ClientMarks } from '../authorization/client-marks'
import { isNoted } from '../authorization/owner-entries'
import { issuerDigest } from '../authorization/issuer'
import {
  changeFrom,
  dropOldClientSecrets,
  registerFrom,
  rotateClientSecret,
  unknownClient,
  unsettledSecret,
} from '../clients/registrations'
import { clientRegistrar } from '../clients/registrar'
import { ConfigurationError } from '../primitives/configuration-error'
import { tenYears } from '../primitives/values'
import { type ClientRegistration, isMemberName } from '../protocol/client'
import { anyCapabilities, isOwnMember, type ServerCapabilities } from '../protocol/parse-client'
import { type Answer, type Command, onStore, type Order } from './command'
import { changeable, everywhere, fixed, type Flag, memberOf, ofStore, own } from './flags'
import type { Fields } from './output'

const { member, remove, deleted, repeat, finish, issuer } = own
const common = { ...ofStore, ...everywhere }
const metadata: ReadonlyMap<string, Flag> = new Map(Object.entries({ ...fixed, ...changeable }))

const shownOnce = 'The secret is shown only now: the store keeps its digest.'
const unsettledNote =
  'The command does not know whether the client has this secret now. Put the secret into the variable CLIENT_SECRET and repeat the command with --repeat. A rotation without --repeat could drop the secret that is in use.'
const endedNote =
  'What the client got before ends: endpoints refuse it now, and guards on the store within a second. JWTs work until they expire at guards that trust their signature.'
const notEndedNote =
  'Existing access tokens of the client work until they expire or the server revokes them. To end them, name the issuer of a server with the option authorizations: --issuer https://…'

const onRegistry = (act: (clients: ClientRegistry, order: Order) => Promise<Answer>) =>
  onStore((store, order) => act(registeredClients(store), order))

export const clientCommands: Readonly<Record<string, Command>> = {
  'client add': {
    meaning: 'register a client; issues a client_id and, to a confidential client, a secret',
    flags: { ...common, ...fixed, ...changeable, member },
    run: onRegistry(async (clients, { values }) => {
      const registration = registrationIn(values, 'registered')
      const issued = await registerFrom(clients, registration, knowing(registration))
      return { found: { ...issued }, note: issued.client_secret === undefined ? undefined : shownOnce }
    }),
  },
  'client list': {
    meaning: 'list every client, with the day of its last use',
    flags: { ...common, deleted },
    run: onRegistry(async (clients, { values: { deleted: wantsDeleted = false } }) => {
      const listed = (await clients.list()).filter((client) => isDeleted(client) === wantsDeleted)
      const days = await clients.lastUses()
      return {
        found: listed.map((client) => summaryOf(client, dayOf(days.get(client.client_id)))),
        ifEmpty: wantsDeleted ? 'No client was deleted here.' : 'No client is registered here.',
      }
    }),
  },
  'client show': {
    meaning: 'show the registration of a client',
    takes: 'client_id',
    flags: common,
    run: onStore(async (store, { name }) => {
      const clients = registeredClients(store)
      const found = (await clients.find(name)) ?? (await recordsIn(store).find(name))?.registration
      if (found === undefined || isDeleted(found))
        throw new ConfigurationError('The client cannot be shown:', [unknownClient])
      const days = await clients.lastUses()
      return { found: { ...withoutDigests(found), last_used: dayOf(days.get(name)) } }
    }),
  },
  'client change': {
    meaning: 'change members of a registration; each option replaces the whole member',
    takes: 'client_id',
    flags: { ...common, ...changeable, member, remove },
    run: onRegistry(async (clients, { name, values }) => {
      const change = registrationIn(values, 'changed')
      for (const word of values.remove ?? []) {
        const removed = removedMember(word)
        if (change[removed] !== undefined) throw wrongRemoval(`names ${word}, which another option sets.`)
        change[removed] = undefined
      }
      if (Object.keys(change).length === 0)
        throw cannotBe('changed', 'client change', 'needs an option that says what changes.')
      const known = (current: ClientRegistration) => knowing({ ...current, ...change })
      return { found: withoutDigests(await changeFrom(clients, name, change, known)) }
    }),
  },
  'client rotate-secret': {
    meaning: 'issue a new secret; the current secret also works, until --finish',
    takes: 'client_id',
    flags: { ...common, repeat, finish },
    run: onRegistry(async (clients, { name: client_id, values, environment }) => {
      if (values.finish === true) {
        await dropOldClientSecrets(clients, client_id)
        return { found: { client_id, client_secrets: 1 } }
      }
      const secret = values.repeat === true ? (environment['CLIENT_SECRET'] ?? '') : undefined
      try {
        return { found: { ...(await rotateClientSecret(clients, client_id, secret)) }, note: shownOnce }
      } catch (trouble) {
        const client_secret = unsettledSecret(clients, client_id)
        if (client_secret === undefined) throw trouble
        return { found: { client_id, client_secret }, note: unsettledNote, trouble }
      }
    }),
  },
  'client disable': {
    meaning: 'disable a client at once; its access tokens work until they expire, or end with --issuer',
    takes: 'client_id',
    flags: { ...common, issuer },
    run: asRegistrar('disableClient', { disabled: true }),
  },
  'client enable': {
    meaning: 'enable a disabled client again',
    takes: 'client_id',
    flags: common,
    run: asRegistrar('enableClient', { disabled: false }),
  },
  'client delete': {
    meaning: 'delete a client for ever; its client_id stays taken, and its access tokens are as with disable',
    takes: 'client_id',
    flags: { ...common, issuer },
    run: asRegistrar('deleteClient', { deleted: true }),
  },
}

const cannotBe = (done: 'registered' | 'changed', path: string, message: string) =>
  new ConfigurationError(`The client cannot be ${done}:`, [{ path, message }])

function registrationIn(values: Order['values'], done: 'registered' | 'changed'): Record<string, unknown> {
  const registration: Record<string, unknown> = {}
  const wrong = (message: string) => cannotBe(done, '--member', message)
  for (const given of values.member ?? []) {
    const [name = ''] = given.split('=', 1)
    if (!isMemberName(name) || name === given)
      throw wrong('must be name=value, with a name in lower case such as subject_type.')
    if (isOwnMember(name)) throw wrong(`cannot set ${name}, which is no member of a plug-in.`)
    if (Object.hasOwn(registration, name)) throw wrong(`sets ${name} twice.`)
    registration[name] = jsonOrText(given.slice(name.length + 1))
  }
  for (const [name, value] of Object.entries(values)) {
    const flag = metadata.get(name)
    if (flag) registration[memberOf(name, flag)] = flag.unit === 'seconds' ? Number(value) : value
  }
  return registration
}

function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

const isOfPlugin = (name: string) => isMemberName(name) && !isOwnMember(name)
const wrongRemoval = (message: string) => cannotBe('changed', '--remove', message)

function removedMember(name: string): string {
  const flag = metadata.get(name)
  if (Object.hasOwn(fixed, name)) throw wrongRemoval(`cannot remove ${name}, which never changes.`)
  if (flag !== undefined) return memberOf(name, flag)
  if (isOfPlugin(name)) return name
  const known = 'must name an option, such as logo-uri, or a member of a plug-in, such as subject_type'
  throw wrongRemoval(`${known}; "${name}" is neither.`)
}

// The server checks the values of plug-ins.
function knowing(registration: Fields): ServerCapabilities {
  const names = Object.keys(registration).filter(
    (name) => registration[name] !== undefined && isOfPlugin(name),
  )
  return { ...anyCapabilities, members: names.map((name) => ({ name, mistakeIn: () => undefined })) }
}

const recordsIn = (store: Store) => new DynamicClientRecords(store, secondsOf(Date.now))

type Said = Pick<Answer, 'note' | 'trouble'>

function asRegistrar(verb: 'disableClient' | 'enableClient' | 'deleteClient', state: Fields) {
  return onStore(async (store, { name: client_id, values }) => {
    let said: Said = {}
    const revoke = async () => {
      said = await ended(store, client_id, values.issuer)
    }
    const clients = registeredClients(store)
    const records = recordsIn(store)
    const ofStrangers = {
      setDisabled: (id: string, disabled: boolean) => records.setDisabled(id, disabled),
      async remove(id: string) {
        const found = await records.find(id)
        if (found !== undefined) await mark(store, id, found.issuerDigest)
        await revoke()
        await records.remove(id)
      },
    }
    await clientRegistrar(clients, anyCapabilities, revoke, ofStrangers)[verb](client_id)
    return { found: { client_id, ...state }, ...said }
  })
}

// The store's clients have no end, and the command does not know the lifetimes of tokens.
const mark = (store: Store, clientId: string, digest: string) =>
  new ClientMarks({ store, issuerDigest: digest, clock: Date.now }).revoke(clientId, tenYears)

async function ended(store: Store, clientId: string, issuers?: readonly string[]): Promise<Said> {
  if (issuers === undefined) return { note: notEndedNote }
  const unknown: string[] = []
  for (const each of issuers) {
    const digest = issuerDigest(each)
    await mark(store, clientId, digest)
    if (!(await isNoted(store, digest))) unknown.push(each)
  }
  if (unknown.length === 0) return { note: endedNote }
  const message = `names ${unknown.join(' and ')}. No server of this name with the option authorizations has used this store: name the option issuer of the server exactly.`
  const subject = 'Access tokens of the client may work until they expire:'
  const trouble = new ConfigurationError(subject, [{ path: '--issuer', message }])
  return { trouble, note: 'The client is shut out.' }
}

const dayOf = (seconds: number | undefined) =>
  seconds === undefined ? undefined : new Date(seconds * 1000).toISOString().slice(0, 10)

function summaryOf(registration: ClientRegistration, last_used: string | null = null): Fields {
  const { client_id, client_name, client_type, grant_types, scope } = registration
  const { client_secrets, disabled } = withoutDigests(registration)
  return { client_id, client_name, client_type, grant_types, scope, client_secrets, last_used, disabled }
}

// A digest helps only an attacker, who can test guesses.
function withoutDigests({ client_secret_hashes, ...rest }: ClientRegistration) {
  return { ...rest, disabled: rest.disabled === true, client_secrets: client_secret_hashes?.length ?? 0 }
}

import { setTimeout } from 'node:timers/promises'
import { expiryOf } from '../../../lib/authorization/authorization'
import type {
  AuthorizationStore,
  DynamicClientStore,
  RedisStore,
  StoredAuthorization,
} from '../../../lib/index'

/** What a server of the campaign takes from its store. */
type ServedStore = AuthorizationStore & Pick<RedisStore, 'counters' | 'dynamicClients'>

/** Plants a mistake into a sound store; each process plants its own. */
type Plant = (sound: AuthorizationStore) => AuthorizationStore

type Save = AuthorizationStore['save']

/** Only what is broken differs. */
function but(sound: AuthorizationStore, broken: Partial<AuthorizationStore>): AuthorizationStore {
  return {
    find: (id) => sound.find(id),
    save: (authorization, revision, expected) => sound.save(authorization, revision, expected),
    remove: (id) => sound.remove(id),
    ...(sound.confirmAbsent === undefined
      ? {}
      : { confirmAbsent: (id, ...more) => sound.confirmAbsent?.(id, ...more) ?? Promise.resolve(true) }),
    ...broken,
  }
}

/** Writes whatever is there. */
async function overwrite(sound: AuthorizationStore, ...[authorization, revision]: Parameters<Save>) {
  for (;;) {
    const found = await sound.find(authorization.id)
    if (await sound.save(authorization, revision, found?.revision)) return true
  }
}

function checkThenAct(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, {
    save: async (authorization, revision, expected) => {
      const found = await sound.find(authorization.id)
      if (found?.revision === revision) return true
      return found?.revision === expected && overwrite(sound, authorization, revision)
    },
  })
}

function anyRevision(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, {
    save: (authorization, revision, expected) =>
      expected === undefined
        ? sound.save(authorization, revision)
        : overwrite(sound, authorization, revision),
  })
}

function resurrection(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, {
    save: async (authorization, revision, expected) =>
      (await sound.save(authorization, revision, expected)) || sound.save(authorization, revision),
  })
}

function forgottenRevision(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, {
    save: async (authorization, revision, expected) => {
      const found = await sound.find(authorization.id)
      return found?.revision !== revision && sound.save(authorization, revision, expected)
    },
  })
}

// Two saves of one record at once become one act, and both are told that theirs was done.
function lostUpdate(sound: AuthorizationStore): AuthorizationStore {
  const saves = new Map<string, Promise<boolean>>()
  const save: Save = async (authorization, revision, expected) => {
    const { id } = authorization
    const begun = saves.get(id) ?? sound.save(authorization, revision, expected)
    saves.set(id, begun)
    return begun.finally(() => saves.delete(id))
  }
  return but(sound, { save })
}

function staleCopies(sound: AuthorizationStore): AuthorizationStore {
  const copies = new Map<string, StoredAuthorization>()
  return but(sound, {
    find: async (id) => {
      const found = copies.get(id) ?? (await sound.find(id))
      if (found !== undefined) copies.set(id, found)
      void setTimeout(20, undefined, { ref: false }).then(() => copies.delete(id))
      return found
    },
  })
}

function removeThatDoesNothing(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, { remove: async () => {} })
}

function lateRemove(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, {
    remove: async (id) => {
      void setTimeout(20, undefined, { ref: false }).then(() => sound.remove(id))
    },
  })
}

// A second one comes after a reply that was lost.
function removeOnlyOnce(sound: AuthorizationStore): AuthorizationStore {
  const removed = new Set<string>()
  return but(sound, {
    remove: async (id) => {
      if (removed.has(id)) throw new Error('There is nothing to remove.')
      removed.add(id)
      await sound.remove(id)
    },
  })
}

function earlyExpiry(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, {
    find: async (id) => {
      const found = await sound.find(id)
      const secondsLeft = found === undefined ? 0 : expiryOf(found.authorization) - Date.now() / 1000
      return secondsLeft > 600 ? found : undefined
    },
  })
}

// The last copy it saw stands in for a record that has expired.
function noExpiry(sound: AuthorizationStore): AuthorizationStore {
  const seen = new Map<string, StoredAuthorization>()
  return but(sound, {
    find: async (id) => {
      const found = (await sound.find(id)) ?? seen.get(id)
      if (found !== undefined) seen.set(id, found)
      return found
    },
    remove: async (id) => {
      seen.delete(id)
      await sound.remove(id)
    },
  })
}

// Of all processes: the copy of one arrives, whichever of them removed the record.
const created = new Map<string, Parameters<Save>>()

function lateCreate(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, {
    save: (authorization, revision, expected) => {
      if (expected === undefined) created.set(authorization.id, [authorization, revision])
      return sound.save(authorization, revision, expected)
    },
    remove: async (id) => {
      await sound.remove(id)
      const copy = created.get(id)
      created.delete(id)
      if (copy !== undefined) await sound.save(...copy)
    },
  })
}

/** Keeps the refresh token that the record had before. */
function withoutRotation(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, {
    save: async (authorization, revision, expected) => {
      const before = expected === undefined ? undefined : (await sound.find(authorization.id))?.authorization
      const isRefresh = before?.state === 'active' && authorization.state === 'active'
      const saved = isRefresh ? { ...authorization, refreshToken: before.refreshToken } : authorization
      return sound.save(saved, revision, expected)
    },
  })
}

/** Reads ahead, and does not wait for what it reads. */
function unawaited(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, {
    save: (authorization, revision, expected) => {
      void sound.find(authorization.id)
      return sound.save(authorization, revision, expected)
    },
  })
}

function pretendingRemoval(sound: DynamicClientStore): DynamicClientStore {
  return {
    find: (clientId) => sound.find(clientId),
    add: (addition) => sound.add(addition),
    update: (clientId, change) => sound.update(clientId, change),
    extend: (clientId, lifetime, unlessLeft) => sound.extend(clientId, lifetime, unlessLeft),
    remove: async () => {},
  }
}

const ofRevisions: Readonly<Record<string, Plant>> = {
  'check, then act': checkThenAct,
  'a save that takes any expected revision': anyRevision,
  'a save that brings a removed record back': resurrection,
  'a save that does not know its own revision': forgottenRevision,
  'a save that loses one of two updates': lostUpdate,
  'a find that serves stale copies': staleCopies,
  'a remove that does nothing': removeThatDoesNothing,
  'a remove that comes late': lateRemove,
  'an expiry that comes too early': earlyExpiry,
}

/** Mistakes that those who race for an authorization can see, when nothing breaks. */
export const seenInRaces: Readonly<Record<string, Plant>> = {
  ...ofRevisions,
  'a refresh that does not rotate': withoutRotation,
}

/** Mistakes that show when something breaks. */
const seenInFaults: Readonly<Record<string, Plant>> = {
  'a failure that reads as an absent record': (sound) =>
    but(sound, { find: (id) => sound.find(id).catch(() => undefined) }),
  'a failure that nothing awaits': unawaited,
}

/** Mistakes that the contract of stores alone can see: the server watches over them anyway. */
export const seenByContract: Readonly<Record<string, Plant>> = {
  ...ofRevisions,
  // On Redis, its mark refuses the copy.
  'a create that arrives once more, after the removal': lateCreate,
  'a remove that takes no repetition': removeOnlyOnce,
  'a confirmation of absence that does not look': (sound) => but(sound, { confirmAbsent: async () => true }),
  'an expiry that never comes': noExpiry,
}
/** The store with the mistake of this name. */
export function plantedInto(sound: ServedStore, name: string): ServedStore {
  const { counters, dynamicClients } = sound
  if (name === 'a removal of a registration that only pretends')
    return Object.assign(but(sound, {}), { counters, dynamicClients: pretendingRemoval(dynamicClients) })
  const plant = { ...seenInRaces, ...seenInFaults }[name]
  if (plant === undefined) throw new Error(`There is no mistake with the name "${name}".`)
  return Object.assign(plant(sound), { counters, dynamicClients })
}

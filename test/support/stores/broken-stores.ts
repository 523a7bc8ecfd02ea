import { setTimeout } from 'node:timers/promises'
import { expiryOf } from '../../../lib/authorization/authorization'
import type { AuthorizationStore, StoredAuthorization } from '../../../lib/index'

/** A mistake that a store could have, planted into a sound one; each process plants its own. */
export interface Fault {
  readonly name: string
  readonly plant: (sound: AuthorizationStore) => AuthorizationStore
  /** Whether parties that race can see it: an expiry that the core watches over anyway is seen by the contract alone. */
  readonly showsInRaces: boolean
}

type Save = AuthorizationStore['save']

/** Only what is broken differs. */
export function but(sound: AuthorizationStore, broken: Partial<AuthorizationStore>): AuthorizationStore {
  return {
    find: (id) => sound.find(id),
    save: (authorization, revision, expected) => sound.save(authorization, revision, expected),
    remove: (id) => sound.remove(id),
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

/** Takes every save for the newest, as most caches do. */
export function overwriting(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, { save: (authorization, revision) => overwrite(sound, authorization, revision) })
}

export function checkThenAct(sound: AuthorizationStore): AuthorizationStore {
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

export function resurrection(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, {
    save: async (authorization, revision, expected) =>
      (await sound.save(authorization, revision, expected)) || sound.save(authorization, revision),
  })
}

export function forgottenRevision(sound: AuthorizationStore): AuthorizationStore {
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
export function removeOnlyOnce(sound: AuthorizationStore): AuthorizationStore {
  const removed = new Set<string>()
  return but(sound, {
    remove: async (id) => {
      if (removed.has(id)) throw new Error('There is nothing to remove.')
      removed.add(id)
      await sound.remove(id)
    },
  })
}

function confirmationWithoutALook(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, { confirmAbsent: async () => true })
}

function earlyExpiry(sound: AuthorizationStore): AuthorizationStore {
  return but(sound, {
    find: async (id) => {
      const found = await sound.find(id)
      const secondsLeft = found === undefined ? 0 : expiryOf(found.authorization) - Date.now() / 1000
      return secondsLeft > 60 ? found : undefined
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

export const faults: readonly Fault[] = [
  { name: 'check, then act', plant: checkThenAct, showsInRaces: true },
  { name: 'a save that takes any expected revision', plant: anyRevision, showsInRaces: true },
  { name: 'a save that brings a removed record back', plant: resurrection, showsInRaces: true },
  { name: 'a save that does not know its own revision', plant: forgottenRevision, showsInRaces: true },
  { name: 'a save that loses one of two updates', plant: lostUpdate, showsInRaces: true },
  { name: 'a find that serves stale copies', plant: staleCopies, showsInRaces: true },
  { name: 'a remove that does nothing', plant: removeThatDoesNothing, showsInRaces: true },
  { name: 'a remove that comes late', plant: lateRemove, showsInRaces: true },
  { name: 'a create that arrives once more, after the removal', plant: lateCreate, showsInRaces: true },
  { name: 'a remove that takes no repetition', plant: removeOnlyOnce, showsInRaces: false },
  {
    name: 'a confirmation of absence that does not look',
    plant: confirmationWithoutALook,
    showsInRaces: false,
  },
  { name: 'an expiry that comes too early', plant: earlyExpiry, showsInRaces: true },
  { name: 'an expiry that never comes', plant: noExpiry, showsInRaces: false },
]

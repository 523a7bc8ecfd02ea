import { randomBytes } from 'node:crypto'
import type { PlugIn, PlugInServer } from '../../../lib/index'
import { indexOwner } from '../../../lib/authorization/authorization-index'
import { issuerDigest } from '../../../lib/authorization/issuer'
import { photoBook, photoPrint } from '../../support/flows/clients'
import { authorizationRequest } from '../../support/flows/flow'
import { Gate } from '../../support/flows/gate'
import { outcomeOf } from '../../support/flows/outcome'
import { describeOnStores } from '../../support/flows/stores-of-run'
import { waitUntil } from '../../support/wait-until'

const day = 24 * 3600

/** A plug-in that needs the list of the authorizations of an owner. */
function lister(indexSeconds = 0): { plugIn: PlugIn; list: PlugInServer['authorizationsOf'] } {
  let opened: PlugInServer | undefined
  return {
    plugIn: {
      name: 'lister',
      open(server) {
        opened = server
        return { indexSeconds }
      },
    },
    list: async (subject) => (await opened?.authorizationsOf(subject)) ?? [],
  }
}

const owner = indexOwner(issuerDigest('http://localhost'), 'alice')

describeOnStores('A full list of an owner', (stage) => {
  const open = () => {
    const { plugIn, list } = lister()
    return { ...stage({ plugIns: [plugIn] }), list }
  }
  const newId = () => randomBytes(16).toString('base64url')
  /** Entries as many silent logins leave them: their records have ended. */
  const fill = async ({ store, list }: ReturnType<typeof open>) => {
    const left = 10_000 - (await list('alice')).length
    const ids = Array.from({ length: left }, newId)
    for (let first = 0; first < left; first += 500)
      await Promise.all(
        ids
          .slice(first, first + 500)
          .map((authorizationId) =>
            store.index.add(owner, { authorizationId, clientId: 'photo-book' }, { seconds: day, age: 0 }),
          ),
      )
  }

  test('has room where records have ended, loses no living one, and forgets none under way that goes on', async () => {
    const set = open()
    const { flow, list, store } = set
    const { refreshToken } = await flow.tokens(photoPrint)
    const [living] = await list('alice')
    const gate = new Gate()
    const { write } = store
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    store.write = async (key, ...words) => {
      if (key.startsWith('authorization:')) await gate.pass()
      return write(key, ...words)
    }
    const slow = flow.decide(page, 'approve', 'alice')
    await waitUntil('the record is on its way', async () => gate.waiting > 0)
    store.write = write
    const underWay = (await list('alice')).find(({ clientId }) => clientId === 'photo-book')
    // Each approval looks at a part of the list. One that the store holds up may fail, and looks at its part in vain.
    await waitUntil('an approval looks at the entry of the record on its way', async () => {
      await fill(set)
      await flow.approve(photoPrint)
      return !(await list('alice')).some(
        ({ authorizationId }) => authorizationId === underWay?.authorizationId,
      )
    })
    gate.open()
    await slow
    expect(await list('alice')).toContainEqual(living)
    expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('tokens')
    expect(await store.read(`authorization:${underWay?.authorizationId}`)).toBeUndefined()
  })
})

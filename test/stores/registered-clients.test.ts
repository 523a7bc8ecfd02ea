import { setImmediate as nextTurn } from 'node:timers/promises'
import { ParsedRegistrations, storedClients } from '../../lib/stores/registered-clients'
import { clientWith } from '../support/authorization/client'

const client = clientWith()

function watched(answer: () => Promise<unknown> = async () => client) {
  const asked: string[] = []
  const find = storedClients(
    {
      find: async (clientId) => {
        asked.push(clientId)
        await answer()
        return undefined
      },
    },
    new ParsedRegistrations(() => client),
    1,
  )
  return { asked, find }
}

describe('storedClients', () => {
  it('looks a client up once for all who ask in one turn, and another one for itself', async () => {
    const { asked, find } = watched()
    await Promise.all([find('a'), find('a'), find('b'), find('a')])
    expect(asked).toEqual(['a', 'b'])
  })

  it('looks it up again in the next turn, though the first answer is still awaited', async () => {
    const { asked, find } = watched(() => nextTurn().then(() => nextTurn()))
    const first = find('a')
    await nextTurn()
    await Promise.all([first, find('a')])
    expect(asked).toEqual(['a', 'a'])
  })

  it('lets all who share a look-up know of its trouble', async () => {
    const { find } = watched(() => Promise.reject(new Error('Away.')))
    const outcomes = await Promise.allSettled([find('a'), find('a')])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

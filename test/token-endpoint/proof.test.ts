import { exchange } from '../../lib/token-endpoint/exchange'
import type { GrantType, GrantResult } from '../../lib/token-endpoint/grant-type'
import { noon } from '../support/authorization/issue-context'
import { clientWith } from '../support/authorization/client'
import { tokenEndpoint } from '../support/rooms/endpoints'
import { parametersOf } from '../support/rooms/parameters'

const grant = { subject: 'alice', scope: ['photos.read'], refreshToken: false, extensionData: {} }

/** The answer to a grant type that proves this. */
async function answerTo(proof: GrantResult): Promise<object> {
  const extension: GrantType = { name: 'urn:x:y', parameters: [], handle: async () => proof }
  const client = { ...clientWith(), grant_types: ['urn:x:y'] }
  const parameters = parametersOf({ grant_type: 'urn:x:y' })
  return exchange(tokenEndpoint([extension]), { client, parameters, address: () => undefined })
}

test('a grant type adds members to the answer, but never one in the place of ours', async () => {
  const members = {
    issued_token_type: 'urn:x',
    access_token: 'mine',
    token_type: 'n',
    expires_in: '9',
    scope: 'all',
  }
  expect(await answerTo({ grant, members })).toEqual({
    issued_token_type: 'urn:x',
    access_token: expect.stringMatching(/^at_/),
    token_type: 'bearer',
    expires_in: 3600,
    scope: 'photos.read',
  })
})

test('a grant that ends earlier than an access token ends it, and brings nothing that would outlive it', async () => {
  const ending = { ...grant, refreshToken: true }
  const answer = await answerTo({ grant: { ...ending, expiresAt: noon + 60 } })
  expect(answer).toMatchObject({ expires_in: 60 })
  expect(answer).not.toHaveProperty('refresh_token')
  expect(await answerTo({ grant: { ...ending, expiresAt: noon + 9999 } })).toMatchObject({ expires_in: 3600 })
  expect(await answerTo({ grant: ending })).toHaveProperty('refresh_token')
})

test.each([noon, noon - 1, Number.NaN, noon + 0.5, Infinity])(
  'a grant that has ended, or ends at no time at all, gives nothing: %d',
  async (expiresAt) => {
    await expect(answerTo({ grant: { ...grant, expiresAt } })).rejects.toThrow(RangeError)
  },
)

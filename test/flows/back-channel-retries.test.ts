import type timers from 'node:timers/promises'
import { application } from '../support/flows/application'
import { bent } from '../support/flows/clients'
import { claimsIn, relyingParty, withIdentity } from '../support/flows/identity-stage'
import { logoutReceiver } from '../support/flows/logout-receiver'
import { waitUntil } from '../support/wait-until'

/** Pauses pass a hundred times as fast. */
jest.mock<typeof timers>('node:timers/promises', () => {
  const real: typeof timers = jest.requireActual('node:timers/promises')
  const quick: typeof real.setTimeout = (delay = 0, ...words) => real.setTimeout(delay / 100, ...words)
  return { ...real, setTimeout: quick }
})

test('A logout token is sent anew after a failure that may pass, and not after any other', async () => {
  const [busy, refusing, gone] = [
    await logoutReceiver((nth) => (nth < 1 ? 503 : 200)),
    await logoutReceiver(() => 400),
    await logoutReceiver(),
  ]
  await gone.close()
  const clients = [busy, refusing, gone].map(({ uri }, index) =>
    bent(relyingParty, { client_id: `client-${index}`, backchannel_logout_uri: uri }),
  )
  const { flow, oauth, failures } = application(
    withIdentity(
      { clients: clients.map(({ registration }) => registration), logOut: () => {} },
      { backChannelLogout: true },
    ),
  )
  for (const client of clients) await flow.tokens(client, { scope: 'openid' })
  const { text } = await flow.open('/logout', 'alice')
  const logout_request = /name="logout_request" value="([^"]+)"/.exec(text)?.[1]
  await flow.submit('/logout', { logout_request, decision: 'log_out' }, 'alice')
  // The third attempt at the client that is gone is 35 seconds after the first.
  await waitUntil('the last attempt has failed', async () => failures.length >= 2)
  expect(new Set(busy.tokens.map((token) => claimsIn(token)['jti'])).size).toBe(2)
  expect([busy.tokens.length, refusing.tokens.length]).toEqual([2, 1])
  expect(failures.map(({ clientId, cause }) => [clientId, String(cause)])).toEqual([
    ['client-1', 'Error: The client answered the logout token with 400.'],
    ['client-2', expect.stringContaining('DocumentUnavailable')],
  ])
  await Promise.all([busy, refusing].map((receiver) => receiver.close()))
  await oauth.close()
})

import { NotConnected, type Registration } from './connection'
import { send, type Exchange } from './exchange'

/** What a thief has copied. */
export interface StolenCode {
  readonly code: string
  readonly codeVerifier: string
}

/** Trades a code as its app, and once more as a thief who has copied all that the app sent. @throws NotConnected */
export async function replayCode(
  { authorizationServer, client_id, client_secret = '', redirect_uri }: Registration,
  { code, codeVerifier }: StolenCode,
  resourceServer: string,
): Promise<readonly Exchange[]> {
  const trade = () =>
    send({
      method: 'POST',
      url: `${authorizationServer}/token`,
      as: { client: [client_id, client_secret] },
      form: { grant_type: 'authorization_code', code, redirect_uri, code_verifier: codeVerifier },
    })
  const first = await trade()
  const { access_token: token, error = 'temporarily_unavailable' } = first.members
  if (token === undefined) throw new NotConnected(error)
  const openPhotos = () => send({ method: 'GET', url: `${resourceServer}/photos`, as: { token } })
  const opened = await openPhotos()
  const second = await trade()
  const refused = await openPhotos()
  return [
    first.tell({
      title: 'The app trades the code',
      why: 'Lumen sent this code through your browser. The app trades it for an access token, and proves itself with its secret and with the code verifier.',
      clause: [6749, '4.1.3'],
    }),
    opened.tell({
      title: 'The token opens your photos',
      why: 'The photo API looks the token up, and gives out the photos of the workspace that you chose.',
      clause: [6750, '2.1'],
    }),
    second.tell({
      title: 'A thief sends the same code',
      why: 'Suppose that a thief has copied everything: the code, the secret and the verifier. The request equals the first one, byte for byte. But a code is good for one use, and this one is used.',
      clause: [6749, '4.1.2'],
    }),
    refused.tell({
      title: 'Now the token of the app is dead, too',
      why: 'Lumen cannot know which of the two was the thief: the thief may have come first. So it ended every token that came from this code. The honest app asks you again, and the thief has nothing.',
      clause: [6749, '10.5'],
    }),
  ]
}

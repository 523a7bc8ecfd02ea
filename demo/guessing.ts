import { NotConnected } from './connection'
import { send, type Answer, type Exchange } from './exchange'

/** A service whose secret somebody tries to guess. */
export interface Target {
  readonly client_id: string
  readonly client_secret: string
}

/** Guesses at the secret of a service until Lumen has had enough. Then the service itself asks. @throws NotConnected */
export async function guessSecret(
  authorizationServer: string,
  { client_id, client_secret }: Target,
): Promise<readonly Exchange[]> {
  const ask = (secret: string) =>
    send({
      method: 'POST',
      url: `${authorizationServer}/token`,
      as: { client: [client_id, secret] },
      form: { grant_type: 'client_credentials', scope: 'photos:read' },
    })
  const { wrong, last } = await guessUntilRefused(ask)
  if (last.status !== 429) throw new NotConnected('temporarily_unavailable')
  const right = await ask(client_secret)
  return [
    ...toldOfWrong(wrong),
    last.tell({
      title: `Guess ${wrong.length + 1} finds a closed door`,
      why: `${wrong.length === 0 ? 'You pressed the button before, and Lumen has not forgotten. ' : ''}Lumen lets 20 guesses fail in 15 minutes. Then it refuses all further ones from this address, for as many seconds as Retry-After says.`,
      clause: [6749, '2.3.1'],
    }),
    right.tell({
      title: 'The service itself still gets in',
      why: 'If Lumen locked out Nightly Report now, the attacker would have won in another way. The secret of Nightly Report is random and too long to be guessed, so it passes at any time.',
      clause: [6749, '10.10'],
    }),
  ]
}

// More than Lumen allows, and an end if it allowed all.
const guessesAtMost = 30

async function guessUntilRefused(
  ask: (secret: string) => Promise<Answer>,
): Promise<{ readonly wrong: readonly Answer[]; readonly last: Answer }> {
  const wrong: Answer[] = []
  let last = await ask('guess-1')
  while (last.status === 401 && wrong.length < guessesAtMost) {
    wrong.push(last)
    last = await ask(`guess-${wrong.length + 1}`)
  }
  return { wrong, last }
}

function toldOfWrong(wrong: readonly Answer[]): readonly Exchange[] {
  const [first, ...others] = wrong
  const clause = [6749, '5.2'] as const
  return [
    ...(first === undefined
      ? []
      : [
          first.tell({
            title: 'The first guess is wrong',
            why: 'Attack Lab pretends to be Nightly Report, a service that Lumen knows. Lumen does not tell whether the name or the secret is wrong.',
            clause,
          }),
        ]),
    ...others.slice(-1).map((answer) =>
      answer.tell({
        title: `So is every other, up to guess ${wrong.length}`,
        why: 'Each gets the same answer. But Lumen counts them, for each client and for each address.',
        clause,
      }),
    ),
  ]
}

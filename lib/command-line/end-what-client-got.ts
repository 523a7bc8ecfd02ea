import { ClientMarks } from '../authorization/client-marks'
import { notedSince } from '../authorization/indexed-since'
import { issuerDigest } from '../authorization/issuer'
import { ConfigurationError, isTexts, tenYears } from '../primitives/options-reader'
import type { CommandAnswer, CommandStore } from './command'

export async function endWhatClientGot(
  { index }: CommandStore,
  clientId: string,
  issuers: unknown,
): Promise<Pick<CommandAnswer, 'note' | 'trouble'>> {
  if (!isTexts(issuers)) return { note: withoutIssuer }
  const unknown: string[] = []
  for (const issuer of issuers) {
    const own = issuerDigest(issuer)
    // The store's clients have no end, and the command does not know the lifetimes of tokens.
    await new ClientMarks({ index, issuerDigest: own, clock: Date.now }).revoke(clientId, tenYears)
    if ((await notedSince(index, own)) === undefined) unknown.push(issuer)
  }
  return unknown.length === 0
    ? { note: ended }
    : { trouble: unknownIssuers(unknown), note: 'The client is shut out.' }
}

const withoutIssuer =
  'Existing access tokens of the client work until they expire or the server revokes them. To end them, name the issuer of a server with the option authorizations: --issuer https://…'
const ended =
  'What the client got before ends: endpoints refuse it now, and guards on the store within a second. JWTs work until they expire at guards that trust their signature.'

const unknownIssuers = (issuers: readonly string[]) =>
  new ConfigurationError('Access tokens of the client may work until they expire:', [
    {
      path: '--issuer',
      message: `names ${issuers.join(' and ')}. No server of this name with the option authorizations has used this store: name the option issuer of the server, letter by letter.`,
    },
  ])

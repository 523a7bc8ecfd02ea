import type { IncomingMessage } from 'node:http'
import { Parameters } from '../protocol/parameters'

/** The parameters of the request URI, read from its text: a parser of the host may have nested or dropped some. */
export function queryOf({ url = '' }: IncomingMessage): Parameters {
  const question = url.indexOf('?')
  return question < 0 ? Parameters.none : Parameters.parse(url.slice(question + 1))
}

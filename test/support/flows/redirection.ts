import type { Response } from 'supertest'

/** What a client finds at its redirection URI. */
export interface Redirection {
  /** The redirection URI without the parameters of the answer. */
  readonly uri: string
  readonly parameters: Readonly<Record<string, string>>
}

/** Reads an answer that sends the user agent on; every parameter of it comes once. */
export function redirectionOf(response: Response): Redirection {
  const location = response.get('Location')
  if (response.status !== 303 || location === undefined)
    throw new Error(`Not a redirect: ${response.status} ${response.text.slice(0, 500)}`)
  const [uri = '', query = ''] = location.split('?')
  const pairs = [...new URLSearchParams(query)]
  const parameters = Object.fromEntries(pairs)
  if (Object.keys(parameters).length < pairs.length) throw new Error(`A parameter is repeated: ${location}`)
  return { uri, parameters }
}

/** The code of an approval. */
export function codeOf(response: Response): string {
  const { code } = redirectionOf(response).parameters
  if (code === undefined) throw new Error(`No code came: ${response.get('Location')}`)
  return code
}

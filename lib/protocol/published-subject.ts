import { isText } from '../primitives/values'
import type { Client } from './client'
import type { Extension } from './extension'

/** The owner's identifier for one client. @throws TypeError if the extension returns no text. */
export type PublishedSubject = (subject: string, client: Client) => string

export function publishedSubjectBy(extensions: readonly Extension[]): PublishedSubject | undefined {
  const extension = extensions.find((each) => each.publishedSubject !== undefined)
  if (extension === undefined) return undefined
  return (subject, client) => {
    const published: unknown = extension.publishedSubject?.(subject, client)
    if (isText(published)) return published
    throw new TypeError(`The extension "${extension.name}" must return a text as the subject for a client.`)
  }
}

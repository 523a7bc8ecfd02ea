import type { IncomingMessage } from 'node:http'

/**
 * Every line of one header, in the order of the request: `headers` keeps the first of two and hides that there were two,
 * and `headersDistinct` reads all the others as well.
 *
 * @param name in lower case.
 */
export function headerLines(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  name: string,
): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [written = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]]
    if (written.length === name.length && written.toLowerCase() === name) lines.push(value)
  }
  return lines
}

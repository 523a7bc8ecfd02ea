/** @param maximum in bytes. */
export async function boundedText(
  body: ReadableStream<Uint8Array>,
  maximum: number,
  uri: string,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maximum) throw new Error(`${uri} responded with more than ${maximum} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

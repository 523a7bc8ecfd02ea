// Each block begins with the place of the next one and the number of its own bytes.
const blockBytes = 128
const headerBytes = 5
const payloadBytes = blockBytes - headerBytes
const blocksPerChunk = 8192
const end = -1

/** Where a text begins. */
export type Place = number

interface Chunk {
  readonly number: number
  readonly bytes: Buffer
  /** Its free blocks: the first of them, each with the place of the next one. */
  free: Place
  used: number
}

/**
 * Texts outside of the heap, in chains of blocks of one size: however many there are, the garbage collector has none of
 * them to look at or to move. A chunk of a megabyte is given back once all its blocks are free.
 */
export class TextBlocks {
  /** Each at its number, until it is given back. */
  private readonly chunks: (Chunk | undefined)[] = []
  /** Those with a free block. */
  private readonly open = new Set<Chunk>()

  write(text: string): Place {
    const bytes = Buffer.from(text)
    let place = end
    // From its last piece, so that each block knows the next one when it is written.
    for (let from = lastPiece(bytes.length); from >= 0; from -= payloadBytes)
      place = this.writeBlock(bytes.subarray(from, from + payloadBytes), place)
    return place
  }

  read(first: Place): string {
    const pieces: Buffer[] = []
    for (let place = first; place !== end;) {
      const { bytes } = this.chunkOf(place)
      const at = offsetOf(place)
      const begin = at + headerBytes
      pieces.push(bytes.subarray(begin, begin + bytes.readUInt8(at + 4)))
      place = bytes.readInt32LE(at)
    }
    return Buffer.concat(pieces).toString()
  }

  free(first: Place): void {
    for (let place = first; place !== end;) {
      const chunk = this.chunkOf(place)
      const next = chunk.bytes.readInt32LE(offsetOf(place))
      this.giveBack(chunk, place)
      place = next
    }
  }

  private writeBlock(piece: Buffer, next: Place): Place {
    const chunk = this.openChunk()
    const place = chunk.free
    const at = offsetOf(place)
    chunk.free = chunk.bytes.readInt32LE(at)
    chunk.used++
    if (chunk.free === end) this.open.delete(chunk)
    chunk.bytes.writeInt32LE(next, at)
    chunk.bytes.writeUInt8(piece.length, at + 4)
    piece.copy(chunk.bytes, at + headerBytes)
    return place
  }

  private giveBack(chunk: Chunk, place: Place): void {
    chunk.bytes.writeInt32LE(chunk.free, offsetOf(place))
    chunk.free = place
    chunk.used--
    this.open.add(chunk)
    // The last one stays: a single text that comes and goes must not cost a chunk each time.
    if (chunk.used > 0 || this.open.size === 1) return
    this.open.delete(chunk)
    this.chunks[chunk.number] = undefined
  }

  private openChunk(): Chunk {
    for (const chunk of this.open) return chunk
    const hole = this.chunks.indexOf(undefined)
    const number = hole === -1 ? this.chunks.length : hole
    const chunk = {
      number,
      bytes: Buffer.alloc(blockBytes * blocksPerChunk),
      free: number * blocksPerChunk,
      used: 0,
    }
    for (let block = 0; block < blocksPerChunk; block++) {
      const next = block + 1 === blocksPerChunk ? end : chunk.free + block + 1
      chunk.bytes.writeInt32LE(next, block * blockBytes)
    }
    this.chunks[number] = chunk
    this.open.add(chunk)
    return chunk
  }

  private chunkOf(place: Place): Chunk {
    const chunk = this.chunks[Math.floor(place / blocksPerChunk)]
    if (chunk === undefined) throw new Error('A text was asked for that is not kept.')
    return chunk
  }
}

const offsetOf = (place: Place) => (place % blocksPerChunk) * blockBytes
const lastPiece = (length: number) => Math.floor(Math.max(length - 1, 0) / payloadBytes) * payloadBytes

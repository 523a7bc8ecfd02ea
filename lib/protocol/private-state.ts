/** Values beside objects of somebody else. */
export interface PrivateState<Holder extends object, Value> {
  get(holder: Holder): Value | undefined
  set(holder: Holder, value: Value): void
}

let places = 0

/**
 * Keeps values with objects, as long as these live, where nobody else can read, write or print them: in a private field that
 * the object gets late. One field for all kinds of values, so that there are objects with it and without it and no others.
 *
 * A `WeakMap` says the same, but it lives long, and what an old table refers to survives the quick collections of V8: each
 * request would be carried to the old generation with it.
 */
export function privateState<Holder extends object, Value>(): PrivateState<Holder, Value> {
  const place = places++
  return {
    get(holder) {
      const values = Kept.of(holder)
      return values && Reflect.get(values, place)
    },
    set(holder, value) {
      Reflect.set(Kept.of(holder) ?? Kept.begin(holder), place, value)
    },
  }
}

// Constructed, it is the object that it was given: that is how a class can give a field to an object of somebody else.
// oxlint-disable-next-line typescript/no-extraneous-class
class Itself {
  constructor(holder: object) {
    return holder
  }
}

class Kept extends Itself {
  // By the place of their kind.
  readonly #values: object = []

  static of(holder: object): object | undefined {
    return #values in holder ? holder.#values : undefined
  }

  static begin(holder: object): object {
    return new Kept(holder).#values
  }
}

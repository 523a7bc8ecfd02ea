// Loaded before a program that listens by itself: sends its parent the port that the system chose.
const { Server } = require('node:net')

const listen = Reflect.get(Server.prototype, 'listen')
Server.prototype.listen = function (...given) {
  this.once('listening', () => process.send(this.address().port))
  return listen.apply(this, given)
}

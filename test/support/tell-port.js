// Loaded before a program that listens by itself: sends its parent the port that the system chose.
const { Server } = require('node:net')

const { listen } = Server.prototype
Server.prototype.listen = function (...given) {
  this.once('listening', () => process.send(this.address().port))
  return listen.apply(this, given)
}

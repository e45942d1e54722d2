# A small image with the one binary. Data lives in /data; give it a volume.
FROM rust:1.95-slim AS build
WORKDIR /build
COPY . .
RUN cargo build --release --bin millstream

FROM debian:stable-slim
COPY --from=build /build/target/release/millstream /usr/local/bin/millstream
ENV MILLSTREAM_DATA=/data MILLSTREAM_LISTEN=0.0.0.0:9991
VOLUME /data
EXPOSE 9991
ENTRYPOINT ["millstream"]
CMD ["serve"]
